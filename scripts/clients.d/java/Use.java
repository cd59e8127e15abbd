import perigee.ApiClient;
import perigee.api.AuthenticationApi;
import perigee.api.DevicesApi;
import perigee.model.TokenRequest;

/** Gets a token and lists devices through the package that openapi-generator made from the API's description. */
public class Use {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("PERIGEE_URL"));
    TokenRequest presented = new TokenRequest();
    presented.setUserName(System.getenv("PERIGEE_USER_NAME"));
    presented.setApiKey(System.getenv("PERIGEE_API_KEY"));
    var issued = new AuthenticationApi(client).createToken(presented);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + issued.getToken()));
    int devices = new DevicesApi(client).listDevices(null, null, null, null, null, null, null, null, null).getDevices().size();
    System.out.println("java: token until " + issued.getExpires() + ", " + devices + " devices");
  }
}
