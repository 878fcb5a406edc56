/** How a Worker comes to its app: what it is given, what is refused, and when (contract 8). */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { Background, Dep, Path, Returns, get } from "usher-http";
import { worker } from "../../../adapters/workers/index.ts";
import { messages } from "../../support/logs.ts";
import { internal } from "../../support/refusals.ts";
import { bundle, start } from "./running.ts";

const front =
  'import { Dep, Path, Returns, get } from "usher-http"; import { worker } from "../../../adapters/workers/index.ts";';
const hello = `${front} export default worker([get(Path.root, { returns: Returns.text }, () => "hi")]);`;
const lacking = `${front} const store = Dep.ofResource("store");
  export default worker([get(Path.root, { inputs: { store }, returns: Returns.text }, () => "hi")]);`;

describe("options as a value", () => {
  it("are enough, with either flag that Usher needs", async () => {
    const script = await bundle({ contents: hello });
    for (const flag of ["nodejs_als", "nodejs_compat"]) {
      const { client } = await start(script, { flags: [flag] });
      expect((await (await client()).ask("GET /").answer()).body).toBe("hi");
    }
    await expect(start(script, { flags: [] })).rejects.toThrow(/async_hooks/);
  });

  it("that lack a resource of a route prevent the Worker from starting, with a message", async () => {
    const script = await bundle({ contents: lacking });
    await expect(start(script)).rejects.toThrow("GET / reads the resource store, which the option resources lacks");
  });
});

it("background work, which nothing would run between requests, is refused", () => {
  const options = { background: Background.create() };
  expect(() => worker([], options)).toThrow("background cannot run in a Worker");
});

describe("options as a function of the bindings", () => {
  let script: string;
  beforeAll(async () => {
    script = await bundle({ file: "program.ts" });
  });

  it("is called once, for any number of events", async () => {
    const word = Dep.ofResource<string>("word");
    let made = 0;
    const { fetch } = worker<{ readonly WORD: string }>(
      [get(Path.root, { inputs: { word }, returns: Returns.text }, ({ word }) => word)],
      ({ WORD }) => ({ resources: [Dep.resource(word, `${WORD} ${++made}`)] }),
    );
    for (let i = 0; i < 3; i++) {
      const response = await fetch(new Request("http://h/"), { WORD: "bound" }, { waitUntil: () => {} });
      expect(await response.text()).toBe("bound 1");
    }
  });

  it.each([
    [
      "lacks",
      "GET /a: internal: App.make: GET / reads the resource word, which the option resources lacks: add Dep.resource(…, value)",
    ],
    ["raises", "GET /a: internal: it raised"],
  ])("if making the app %s, every request is a 500 and the log has the reason", async (FAILS, why) => {
    const running = await start(script, { bindings: { WORD: "hello", FAILS } });
    for (let i = 0; i < 2; i++) {
      const answered = await (await running.client()).ask("GET /a").answer();
      expect([answered.status, answered.body]).toEqual([500, internal]);
      await running.line(why);
    }
    expect(running.texts.join()).not.toContain("s3cret");
  });
});

describe("work after the answer", () => {
  const slow = get(Path.root, { returns: Returns.text }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "done";
  });

  it("is awaited, and nothing else is", async () => {
    const waited: Promise<unknown>[] = [];
    const context = { waitUntil: (work: Promise<unknown>) => void waited.push(work) };
    const quick = worker([get(Path.root, { returns: Returns.text }, () => "hi")]);
    expect(quick.fetch(new Request("http://h/"), undefined, context)).toBeInstanceOf(Response);
    expect(waited).toEqual([]);
    const response = await worker([slow]).fetch(new Request("http://h/"), undefined, context);
    expect([await response.text(), waited.length]).toEqual(["done", 1]);
    await Promise.all(waited);
    expect(messages("error")).toEqual([]);
  });
});

it("a Worker's bundle has few bytes", async () => {
  const bytes = gzipSync(await bundle({ contents: hello })).length;
  const app = await bundle({
    contents:
      'import { App, Path, Returns, get } from "usher-http"; export const { fetch } = App.make([get(Path.root, { returns: Returns.text }, () => "hi")]);',
  });
  console.log(`a hello world Worker: ${bytes} bytes gzipped, ${gzipSync(app).length} of them without the adapter`);
  expect(bytes - gzipSync(app).length).toBeLessThan(2_300);
});
