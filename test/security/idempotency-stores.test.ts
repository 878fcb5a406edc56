/** The stores of idempotency keys, routes that cannot have keys, and the API document. */
import { describe, expect, it } from "vitest";
import { App, Dep, Idempotency, Openapi, Path, Returns, Test, body, bodyStream, get, post } from "usher-http";
import type { IdempotencyOptions, IdempotencyStore, Route } from "usher-http";
import { itKeepsAnswers } from "../support/idempotency-stores.ts";
import { forgetLines, messages } from "../support/logs.ts";

const everybody = { caller: Dep.return("everybody") };

function codeOf(text: string): string | undefined {
  return text.startsWith('{"error"') ? (JSON.parse(text) as { error: string }).error : undefined;
}

/** A store whose calls the test answers. */
function faulty(faults: Partial<IdempotencyStore>): IdempotencyStore {
  const memory = Idempotency.memory();
  return {
    claim: (...given) => memory.claim(...given),
    keep: (...given) => memory.keep(...given),
    extend: (...given) => memory.extend(...given),
    free: (...given) => memory.free(...given),
    ...faults,
  };
}

describe("a store of idempotency keys that fails", () => {
  const asked = async (store: IdempotencyStore, handler: () => string, options: Partial<IdempotencyOptions> = {}) => {
    const once = Idempotency.by(store, { ...everybody, ...options });
    const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, handler)]);
    const answers = [];
    for (let i = 0; i < 2; i++) {
      answers.push((await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"key"' } })).status);
    }
    return answers;
  };

  it.each<[string, Partial<IdempotencyStore>]>([
    ["rejects", { claim: () => Promise.reject(new Error("away")) }],
    ["gives null", { claim: async () => null as never }],
    ["gives true", { claim: async () => true as never }],
  ])("the handler does not run when the claim %s", async (_how, faults) => {
    let ran = 0;
    expect(await asked(faulty(faults), () => `${ran++}`)).toEqual([500, 500]);
    expect(ran).toBe(0);
  });

  it("the answer is sent although it cannot be kept, and the handler does not run again", async () => {
    let ran = 0;
    const store = faulty({ keep: () => Promise.reject(new Error("away")) });
    expect(await asked(store, () => `${ran++}`)).toEqual([200, 409]);
    expect(ran).toBe(1);
    expect(messages("error")).toContainEqual(expect.stringContaining("the store of an idempotency key"));
  });

  it("an outcome that was lost is a 409, or the handler runs again if the route allows it", async () => {
    const lost = () => faulty({ keep: () => Promise.reject(new Error("away")), extend: async () => {} });
    let ran = 0;
    const late = async (whenLost: "refuse" | "run") => {
      const memory = lost();
      const once = Idempotency.by(memory, { ...everybody, leaseMs: 1, whenLost });
      const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, () => `${ran++}`)]);
      const ask = () => Test.call(app, "POST", "/", { headers: { "idempotency-key": '"key"' } });
      await ask();
      await new Promise((resolve) => setTimeout(resolve, 5));
      const { status, body } = await ask();
      return [status, codeOf(body)];
    };
    expect(await late("refuse")).toEqual([409, "idempotency_answer_lost"]);
    expect(await late("run")).toEqual([200, undefined]);
    expect(ran).toBe(3);
  });
});

describe("the memory store of idempotency keys", () => {
  itKeepsAnswers(async () => Idempotency.memory());

  const claim = { fingerprint: "f", leaseMs: 1000, keepMs: 1000, takesOver: false };
  it("drops the oldest answer above its limits, and never a claim", async () => {
    const store = Idempotency.memory({ most: 2 });
    const now = new Date();
    const claimed = async (key: string) => (await store.claim(key, { ...claim, token: key }, now)) === undefined;
    const kept = (key: string) =>
      store.keep(key, { fingerprint: "f", token: key, answer: key, keepMs: 1000, refused: undefined }, now);
    expect([await claimed("a"), await kept("a"), await claimed("b"), await claimed("c")]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    await expect(claimed("d")).rejects.toThrow("every key is claimed");
    expect([await kept("b"), await claimed("a")]).toEqual([true, true]);
    expect(await kept("nobody's")).toBe(false);
  });

  it("holds no more text than its limit", async () => {
    const store = Idempotency.memory({ maxText: 10 });
    const now = new Date();
    for (const key of ["a", "b", "c"]) {
      await store.claim(key, { ...claim, token: key }, now);
      await store.keep(key, { fingerprint: "f", token: key, answer: "12345", keepMs: 1000, refused: undefined }, now);
    }
    const known = [];
    for (const key of ["a", "b", "c"]) known.push(await store.claim(key, { ...claim, token: "x" }, now));
    expect(known.map((entry) => entry?.answer)).toEqual([undefined, "12345", "12345"]);
  });
});

describe("an answer that is larger than the whole memory store", () => {
  it("is kept, since its work would otherwise be done twice", async () => {
    const once = Idempotency.by(Idempotency.memory({ maxText: 100 }), everybody);
    let placed = 0;
    const route = post(Path.root, { inputs: { once }, returns: Returns.text }, () => `${++placed} ${"x".repeat(200)}`);
    const app = Test.app([route]);
    const ask = async (key: string) => {
      const { body } = await Test.call(app, "POST", "/", { headers: [["idempotency-key", `"${key}"`]] });
      return body.slice(0, 1);
    };
    expect([await ask("a"), await ask("a"), await ask("b"), await ask("b")]).toEqual(["1", "1", "2", "2"]);
  });
});

describe("a wrong declaration of idempotency", () => {
  const once = Idempotency.by(Idempotency.memory(), everybody);
  const upload = bodyStream({ max: 10 });
  it.each<[string, Route]>([
    ["GET changes nothing", get(Path.root, { inputs: { once }, returns: Returns.text }, () => "x")],
    ["while it is sent", post(Path.root, { inputs: { once }, returns: Returns.events([]) }, () => () => {})],
    ["as it arrives", post(Path.root, { inputs: { once, upload }, returns: Returns.text }, () => "x")],
    [
      "two idempotency keys",
      post(
        Path.root,
        { inputs: { once, other: Idempotency.by(Idempotency.memory(), everybody) }, returns: Returns.text },
        () => "x",
      ),
    ],
  ])("App.make refuses %s", (sentence, route) => {
    expect(() => App.make([route])).toThrow(sentence);
  });

  // A second body would have the fingerprint of the first.
  it.each([
    [
      "behind the key",
      (once: Dep.Dep<unknown, string, unknown>, stream: Dep.Dep<unknown, string, unknown>) => ({ once, stream }),
    ],
    [
      "before the key",
      (once: Dep.Dep<unknown, string, unknown>, stream: Dep.Dep<unknown, string, unknown>) => ({ stream, once }),
    ],
  ])("is a 500 when a body that is read as a stream is chosen during the request: %s", async (_where, inputs) => {
    const stream = Dep.bind(Dep.return("any"), () => upload);
    const caller = Dep.bind(stream, () => Dep.return("everybody"));
    for (const once of [
      Idempotency.by(Idempotency.memory(), everybody),
      Idempotency.by(Idempotency.memory(), { caller }),
    ]) {
      const route = post(Path.root, { inputs: inputs(once, stream), returns: Returns.text }, () => "done");
      const headers = [["idempotency-key", '"a"']] as const;
      const { status } = await Test.call(Test.app([route]), "POST", "/", { headers, body: "one" });
      expect([status, messages("error")]).toEqual([500, [expect.stringContaining("has an idempotency key")]]);
      forgetLines();
    }
  });
});

describe("the API document", () => {
  it("has the header and the codes", () => {
    const once = Idempotency.by(Idempotency.memory(), { ...everybody, required: true });
    const route = post(Path.root, { inputs: { once, body }, returns: Returns.text }, () => "x");
    const document = Openapi.document([route], {});
    const operation = document.paths["/"]?.["post"];
    const { parameters, responses } = operation as {
      readonly parameters: readonly object[];
      readonly responses: { readonly [status: string]: { readonly description: string } };
    };
    expect(parameters).toMatchObject([{ in: "header", name: "idempotency-key", required: true }]);
    expect(responses["409"]?.description).toMatch(/idempotency_key_in_use.*idempotency_answer_lost/s);
    expect(responses["422"]?.description).toMatch(/idempotency_key_reused/);
  });
});
