/** Spans on Workers, where nothing runs between requests (contract 8). */
import { expect, it } from "vitest";
import { bundle, start } from "./running.ts";

const program = `import { Answer, Path, Returns, Trace, get } from "usher-http";
  import { worker } from "../../../adapters/workers/index.ts";
  const processor = {
    export(spans, done) {
      setTimeout(() => {
        for (const { name } of spans) console.error(JSON.stringify({ message: "span " + name }));
        done({ code: 0 });
      }, 5);
    },
    shutdown: async () => {},
  };
  async function* parts() {
    yield new TextEncoder().encode("a");
    await Trace.span("part", () => {});
  }
  export default worker(
    [
      get(Path.of("hello"), { returns: Returns.text }, () => Trace.span("work", () => "hi")),
      get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts())),
    ],
    { trace: Trace.exporter({ processor }) },
  );`;

it("are sent with the request they are of, and those of a stream with its end", async () => {
  const worker = await start(await bundle({ contents: program }));
  const client = await worker.client();
  expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  for (const name of ["GET /hello", "work"]) await worker.line(`span ${name}`);
  expect((await client.ask("GET /stream").answer()).body).toBe("a");
  for (const name of ["GET /stream", "part"]) await worker.line(`span ${name}`);
});
