/** An app as the default export of a Worker, without `worker`: what follows its answers is not dropped. */
import { expect, it } from "vitest";
import { bundle, start } from "./running.ts";

const program = `import { App, Answer, Dep, Log, Path, Returns, after, get } from "usher-http";
  Log.setup({ level: "info" });
  const log = Log.source("program");
  const tick = () => new Promise((resolve) => setTimeout(resolve, 5));
  const held = Dep.scoped({}, () => "held", async () => {
    await tick();
    log.info("released");
  });
  const inputs = { held, after };
  const works = (after) => after(async () => {
    await tick();
    log.info("worked after the answer");
  });
  async function* parts() {
    await tick();
    yield new TextEncoder().encode("streamed");
  }
  const text = get(Path.of("text"), { inputs, returns: Returns.text }, ({ after }) => (works(after), "text"));
  const later = get(Path.of("later"), { inputs, returns: Returns.text }, async ({ after }) => {
    works(after);
    await tick();
    return "later";
  });
  const stream = get(Path.of("stream"), { inputs, returns: Returns.response }, ({ after }) => {
    works(after);
    return Answer.stream(parts(), { contentType: "text/plain" });
  });
  const left = get(Path.of("left"), { inputs, returns: Returns.text }, async ({ after }) => {
    works(after);
    log.info("began");
    await new Promise((resolve) => setTimeout(resolve, 200));
    return "left";
  });
  export default App.make([text, later, stream, left]);`;

it("releases what a request acquired, and runs its tasks", async () => {
  const worker = await start(await bundle({ contents: program }));
  for (const [path, body] of [
    ["/text", "text"],
    ["/later", "later"],
    ["/stream", "streamed"],
  ] as const) {
    const answered = await (await worker.client()).ask(`GET ${path}`).answer();
    expect([answered.status, answered.body]).toEqual([200, body]);
    await worker.line("released");
    await worker.line("worked after the answer");
  }
  const client = await worker.client();
  client.ask("GET /left");
  await worker.line("began");
  client.leave();
  await worker.line("released");
  await worker.line("worked after the answer");
});
