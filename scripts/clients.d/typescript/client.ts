// Uses the API through types generated from its description: a call that does not match it does not compile.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function check(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

const client = createClient<paths>({ baseUrl: setting("PERIGEE_URL") });

const token = await client.POST("/api/Auth/Token", {
  body: { userName: setting("PERIGEE_USER_NAME"), apiKey: setting("PERIGEE_API_KEY") },
});
check(token.data?.token, `no token: ${JSON.stringify(token.error)}`);
const bearer = token.data.token;
client.use({
  onRequest({ request }) {
    request.headers.set("Authorization", `Bearer ${bearer}`);
    return request;
  },
});

const devices = await client.GET("/api/devices");
check(devices.data, `no devices: ${JSON.stringify(devices.error)}`);
check(devices.data.devices.length === 0, "a new account has no devices");

const group = await client.POST("/api/groups", { body: { name: "Made by openapi-fetch" } });
check(group.data, `no group: ${JSON.stringify(group.error)}`);
check(group.data.name === "Made by openapi-fetch", "the group has another name");

const user = await client.PATCH("/api/users/{userId}", {
  params: { path: { userId: setting("PERIGEE_USER_ID") } },
  body: { description: "Patched by openapi-fetch" },
});
check(user.data, `no user: ${JSON.stringify(user.error)}`);
check(user.data.description === "Patched by openapi-fetch", "the user was not patched");

console.log("openapi-fetch: token, devices, group, user");
