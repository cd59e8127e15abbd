// The conversation with a device: a text arrives and is counted as unread, an answer is handed to the provider, and its
// state follows what the provider and the device did.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after } from "node:test";
import { serious } from "../lib/page.mjs";
import { suite } from "../lib/suite.mjs";

const taken = [];
const provider = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    taken.push(JSON.parse(Buffer.concat(parts)));
    response.end('{"count":1}');
  });
});
await new Promise((resolve) => provider.listen(0, "127.0.0.1", resolve));
after(() => provider.close());

const { test } = suite({
  config: '[webhooks]\nallow_http = true\nallowed_networks = ["127.0.0.0/8"]\n',
});
const imei = "300434030000001";

/** A text of the device, as Garmin delivers it. */
const event = (text, at) => ({
  Version: "2.0",
  Events: [
    {
      imei,
      messageCode: 3,
      freeText: text,
      timeStamp: at,
      addresses: [],
      point: {
        latitude: 60.5,
        longitude: 5.25,
        altitude: 1,
        gpsFix: 2,
        course: 0,
        speed: 0,
      },
      status: { autonomous: 0, lowBattery: 0 },
    },
  ],
});

test("a boat writes, gets an answer, and answers", async ({
  page,
  api,
  server,
}) => {
  const device = await api.device("Sirius", { identifier: imei });
  const options = {
    sendUrl: `http://127.0.0.1:${provider.address().port}`,
    sendKey: "k",
    sender: "ops@example.com",
  };
  const { url } = await api.post("/api/gateways", { feed: "garmin", options });
  const path = new URL(url).pathname;
  const deliver = async (text, at) => {
    const body = JSON.stringify(event(text, at));
    const answer = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    assert.equal(answer.status, 200);
  };
  await deliver("Mast is broken", Date.now() - 60_000);
  await page.goto(`${server.url}/devices/${device.id}`);
  await page.getByText("1 unread message").waitFor({ state: "attached" });
  await page.getByRole("tab", { name: "Conversation" }).click();
  const messages = page.getByRole("list", { name: "Conversation" });
  await messages.getByText("Mast is broken").waitFor();
  await page.getByText("1 unread message").waitFor({ state: "detached" });
  await page.getByLabel("Message", { exact: true }).fill("x".repeat(161));
  await page.getByText("The message is too long for this network.").waitFor();
  assert.ok(
    await page.getByRole("button", { name: "Send", exact: true }).isDisabled(),
  );
  await page.getByText("It would be sent as 2 messages").waitFor();
  await page.getByRole("button", { name: "Help is on its way." }).click();
  assert.deepEqual(await serious(page), []);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await messages
    .getByRole("listitem")
    .filter({ hasText: "Help is on its way." })
    .getByText("handed over")
    .waitFor();
  assert.equal(taken[0].Messages[0].Message, "Help is on its way.");
  await deliver("Thank you", Date.now() + 1_000);
  await messages.getByText("Thank you").waitFor();
  await messages
    .getByRole("listitem")
    .filter({ hasText: "Help is on its way." })
    .getByText("answered")
    .waitFor();

  // A long text goes in parts after the user has seen how many.
  await page
    .getByLabel("Message", { exact: true })
    .fill(`${"storm ".repeat(30)}end`);
  await page.getByRole("button", { name: "Send 2 messages" }).click();
  await messages.getByText("(2/2)").waitFor();
  await messages
    .getByRole("listitem")
    .filter({ hasText: "(2/2)" })
    .getByText("handed over")
    .waitFor();
  assert.match(taken[1].Messages[0].Message, /^\(1\/2\) storm /);
  assert.match(taken[2].Messages[0].Message, /^\(2\/2\) .*end$/);
  assert.equal(
    await page.getByLabel("Message", { exact: true }).inputValue(),
    "",
  );

  await page.getByText("Tracking and emergency").click();
  await page.getByLabel("Report every").selectOption("30");
  await page.getByRole("button", { name: "Set interval" }).click();
  await messages.getByText("Tracking interval").waitFor();
  assert.deepEqual(taken.at(-1), { Devices: [{ Imei: imei, Interval: 1800 }] });
});

test("quick replies are those of the account", async ({
  page,
  api,
  server,
}) => {
  const device = await api.device("Vega", {
    identifier: "300434030000002",
    identifiers: [],
  });
  await api.patch("/api/account", {
    settings: { quickReplies: ["On our way"] },
  });
  const options = {
    sendUrl: `http://127.0.0.1:${provider.address().port}`,
    sendKey: "k",
    sender: "ops@example.com",
  };
  await api.patch(`/api/devices/${device.id}`, {
    identifiers: [{ identifier: "300434030000003", link: "garmin" }],
  });
  await api.post("/api/gateways", { feed: "garmin", options });
  await page.goto(`${server.url}/devices/${device.id}`);
  await page.getByRole("tab", { name: "Conversation" }).click();
  await page.getByRole("button", { name: "On our way" }).click();
  assert.equal(
    await page.getByLabel("Message", { exact: true }).inputValue(),
    "On our way",
  );
  assert.equal(
    await page.getByRole("button", { name: "Help is on its way." }).count(),
    0,
  );
});
