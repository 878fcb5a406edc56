import { it } from "vitest";
import { Path, Returns, get, post, body, Answer, param } from "usher-http";
import { clientOf, start, gate } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
const name = Path.str("name");
const hello = get(Path.of("hello", name), { inputs: { name: param(name) }, returns: Returns.text }, ({ name }) => `hi ${name}`);
const later = get(Path.of("later", name), { inputs: { name: param(name) }, returns: Returns.text }, async ({ name }) => `later ${name}`);
const routes=[hello,later,post(Path.of("post"), { returns: Returns.text }, () => "posted")];
it.each([["slow"],["fast"]])("pipe %s", async (k) => {
    const first = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await first.passed, "slow"));
    const client = await clientOf([...routes, slow]);
    client.ask(k === "slow" ? "GET /slow" : "GET /hello/0").ask("GET /hello/a").ask("POST /post").ask("HEAD /hello/b").ask("GET /later/c").ask("GET /hello/d", ["connection: close"]).ask("GET /hello/e");
    setTimeout(() => first.open(), 50);
    process.stdout.write(`P ${k} ${await client.rest()}\n`);
});
it("connect", async () => {
    const server = await start(routes);
    const client = await RawClient.to(server.port);
    const answered = await client.send("CONNECT h:443 HTTP/1.1", "host: h:443", "", "").answer();
    process.stdout.write("P answered\n");
    await client.closed();
    process.stdout.write("P closed\n");
    await server.stop();
    process.stdout.write("P stopped\n");
});
