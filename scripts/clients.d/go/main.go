// Gets a token and lists devices through the package that openapi-generator made from the API's description.
package main

import (
	"context"
	"fmt"
	"os"

	"perigee"
)

func main() {
	configuration := perigee.NewConfiguration()
	configuration.Servers = perigee.ServerConfigurations{{URL: os.Getenv("PERIGEE_URL")}}
	client := perigee.NewAPIClient(configuration)
	presented := perigee.NewTokenRequest(os.Getenv("PERIGEE_USER_NAME"), os.Getenv("PERIGEE_API_KEY"))
	issued, _, err := client.AuthenticationAPI.CreateToken(context.Background()).TokenRequest(*presented).Execute()
	check("create a token", err)
	signed := context.WithValue(context.Background(), perigee.ContextAccessToken, issued.GetToken())
	devices, _, err := client.DevicesAPI.ListDevices(signed).Execute()
	check("list devices", err)
	fmt.Printf("go: token until %s, %d devices\n", issued.GetExpires(), len(devices.GetDevices()))
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "could not %s: %v\n", what, err)
		os.Exit(1)
	}
}
