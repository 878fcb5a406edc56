/** The page on answers of a language model: its programs, against a provider that speaks OpenAI's chat completions. */
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { LanguageModel } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type * as Usher from "usher-http";
import { serverOfFile } from "../support/http-server.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("llm");

/** The provider's answer to the prompt that names it. */
const answers: { readonly [prompt: string]: (response: ServerResponse) => void } = {
  whole: (response) => {
    response.write(": a comment\r\n\r\n");
    // Cut in the middle of a line, and of a character.
    const bytes = Buffer.from(`${chunk("Héllo")}${chunk(" there.")}data: [DONE]\n\n`);
    response.write(bytes.subarray(0, 60));
    setImmediate(() => response.end(bytes.subarray(60)));
  },
  "an error": (response) => response.end(`${chunk("One")}data: {"error":{"message":"secret"}}\n\n`),
  "no end": (response) => response.end(chunk("One")),
  cut: (response) => {
    response.write(chunk("One"));
    setImmediate(() => response.destroy());
  },
  "no JSON": (response) => response.end(`${chunk("One")}data: {\n\n`),
  endless: (response) => {
    const timer = setInterval(() => response.write(chunk("more")), 10);
    response.on("close", () => clearInterval(timer));
  },
  silent: (response) => response.write(chunk("One")),
  refused: () => {},
};

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

let asked: readonly unknown[] = [];
/** How many of its answers have ended. */
let over = 0;

async function provide(came: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const part of came) text += String(part);
  const { stream, messages } = JSON.parse(text) as { stream: boolean; messages: readonly { content: string }[] };
  asked = [...asked, [came.url, came.headers.authorization, stream]];
  response.on("close", () => over++);
  const prompt = messages[0]?.content ?? "";
  response.writeHead(prompt === "refused" ? 500 : 200, { "content-type": "text/event-stream" });
  if (prompt === "refused") response.end();
  answers[prompt]?.(response);
}

let provider: string;
beforeAll(async () => {
  ({ url: provider } = await serverOfFile((came, response) => void provide(came, response)));
});

describe("words as typed events", () => {
  let program: Awaited<ReturnType<typeof guide.start>>;
  beforeEach(async () => {
    over = 0;
    asked = [];
    program = await guide.start("server.ts", {
      ...process.env,
      PROVIDER_URL: provider,
      PROVIDER_KEY: "key",
      PORT: "0",
    });
  });
  afterEach(async () => {
    await program.stop();
  });

  const ask = (prompt: string): Promise<Response> =>
    fetch(`${program.url}/answers`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt }),
    });
  const events = (text: string): readonly unknown[] =>
    [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data = ""]) => [name, JSON.parse(data)]);

  it("sends each word, and how many there were", async () => {
    const answer = await ask("whole");
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(events(await answer.text())).toEqual([
      ["word", { text: "Héllo" }],
      ["word", { text: " there." }],
      ["done", { words: 2 }],
    ]);
    expect(asked).toEqual([["/v1/chat/completions", "Bearer key", true]]);
  });

  it.each(["an error", "no end", "cut", "no JSON"])(
    "tells by an event that the provider failed: %s",
    async (prompt) => {
      const text = await (await ask(prompt)).text();
      expect(events(text)).toEqual([
        ["word", { text: "One" }],
        ["failed", { code: "provider_failed", words: 1 }],
      ]);
      expect(text).not.toContain("secret");
    },
  );

  it("tells by an event that the provider refused", async () => {
    expect(events(await (await ask("refused")).text())).toEqual([["failed", { code: "provider_failed", words: 0 }]]);
  });

  it.each(["endless", "silent"])(
    "aborts the provider's answer when the reader leaves, and frees its place: %s",
    async (prompt) => {
      const body = JSON.stringify({ prompt });
      const headers = { "content-type": "application/json", "content-length": body.length };
      const asking = request(`${program.url}/answers`, { method: "POST", headers, agent: false });
      asking.on("error", () => {});
      asking.end(body);
      const [came] = (await once(asking, "response")) as [IncomingMessage];
      expect(String((await once(came, "data"))[0])).toContain("event: word");
      const second = await ask("whole");
      expect([second.status, await second.json()]).toMatchObject([429, { error: "answer_open" }]);
      expect(over).toBe(0);
      asking.destroy();
      await expect.poll(() => over).toBe(1);
      await expect.poll(async () => {
      const third = await ask("whole");
      await third.text();
      return third.status;
    }, { interval: 500 }).toBe(200); // prettier-ignore
    },
  );

  it("refuses the question that is one too many, with when to come again", async () => {
    // One comes back each three seconds, which a slow machine may take for the twenty.
    let refused = await ask("whole");
    for (let count = 0; count < 60 && refused.status === 200; count++) {
      expect(await refused.text()).toContain("event: done");
      refused = await ask("whole");
    }
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: "rate_limited" }]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("the AI SDK", () => {
  guide.write("usher.ts", 'export * from "usher-http";');

  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const parts = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "Hello" },
    { type: "text-delta", id: "1", delta: " there." },
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
  ];

  async function appOf(stream: ReadableStream): Promise<{ readonly app: Usher.App; readonly signals: AbortSignal[] }> {
    const { App } = await guide.load<typeof Usher>("usher.ts");
    const { chatRoutes } = await guide.load<{ chatRoutes: (model: LanguageModel) => readonly Usher.Route[] }>(
      "chat.ts",
    );
    const signals: AbortSignal[] = [];
    const doStream = ({ abortSignal }: { abortSignal?: AbortSignal }) => {
      if (abortSignal !== undefined) signals.push(abortSignal);
      return Promise.resolve({ stream });
    };
    return { app: App.make(chatRoutes(new MockLanguageModelV3({ doStream: doStream as never }))), signals };
  }

  const question = (path: string, signal?: AbortSignal): Request =>
    new Request(`http://h/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Hello?" }),
      ...(signal === undefined ? {} : { signal }),
    });

  it("sends its messages, with their header", async () => {
    const { app } = await appOf(simulateReadableStream({ chunks: parts }));
    const answer = await app.fetch(question("chat"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    const text = await answer.text();
    expect([...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta)).toEqual(["Hello", " there."]);
    expect(text).toContain("data: [DONE]");
  });

  it("sends its text", async () => {
    const { app } = await appOf(simulateReadableStream({ chunks: parts }));
    const answer = await app.fetch(question("completion"));
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual([
      "text/plain; charset=utf-8",
      "Hello there.",
    ]);
  });

  it("says what the program says of an error in the middle, and not what the error says", async () => {
    const failing = simulateReadableStream({
      chunks: [...parts.slice(0, 3), { type: "error", error: new Error("secret") }],
    });
    const { app } = await appOf(failing);
    const text = await (await app.fetch(question("chat"))).text();
    expect(text).toContain("The model does not answer.");
    expect(text).not.toContain("secret");
  });

  it("aborts the model's signal when the reader leaves", async () => {
    const endless = new ReadableStream({
      start: (controller) => {
        for (const part of parts.slice(0, 3)) controller.enqueue(part);
      },
    });
    const { app, signals } = await appOf(endless);
    const answer = await app.fetch(question("completion"));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("Hello");
    await reader.cancel();
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
