/** The places of `maxInFlight`, while bodies arrive in parts: who runs, who waits, and in which order they continue. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { App, Overload, Path, Returns, bodyStream, get, post } from "usher-http";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";
import { played } from "./seeds.ts";

// What is refused has a line a minute.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

type Command =
  | { readonly do: "ask" }
  | { readonly do: "answer" }
  | { readonly do: "upload" }
  | { readonly do: "stuck" }
  | UploadCommand;

interface UploadCommand {
  readonly do: "send" | "end" | "cut" | "work";
  readonly which: number;
}

const which = fc.nat({ max: 5 });
const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom("ask", "answer", "upload", "upload", "stuck" as const) }),
    fc.record({ do: fc.constantFrom("send", "send", "end", "cut", "work", "work" as const), which }),
  ),
  { minLength: 5, maxLength: 40 },
);

type At = "waits for its body" | "waits for a place" | "runs" | "answered" | "refused";

/** One upload as the model has it. Its handler works on each part until the test lets it continue. */
interface ModelUpload {
  at: At;
  /** What has arrived, and is not read. */
  arrived: readonly ("part" | "over")[];
}

/** What must hold, written without a promise. */
class Model {
  readonly uploads: ModelUpload[] = [];
  readonly queue: ModelUpload[] = [];
  readonly limit: number;
  asks = 0;
  running = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether a request that arrives is served. */
  ask(): boolean {
    if (this.running >= this.limit) return false;
    this.asks++;
    this.running++;
    return true;
  }

  answer(): void {
    this.asks--;
    this.leaves();
  }

  upload(): void {
    const isServed = this.running < this.limit;
    this.uploads.push({ at: isServed ? "waits for its body" : "refused", arrived: [] });
  }

  arrives(upload: ModelUpload, what: "part" | "over"): void {
    upload.arrived = [...upload.arrived, what];
    if (upload.at !== "waits for its body") return;
    this.#wantsPlace(upload);
  }

  worked(upload: ModelUpload): void {
    upload.at = "waits for its body";
    this.leaves();
    if (upload.arrived.length > 0) this.#wantsPlace(upload);
  }

  stuck(): void {
    const first = this.queue.shift();
    if (first !== undefined) this.#runs(first);
  }

  leaves(): void {
    this.running--;
    if (this.running < this.limit) this.stuck();
  }

  #wantsPlace(upload: ModelUpload): void {
    if (this.running < this.limit) return this.#runs(upload);
    upload.at = "waits for a place";
    this.queue.push(upload);
  }

  #runs(upload: ModelUpload): void {
    this.running++;
    const [read, ...rest] = upload.arrived;
    upload.arrived = rest;
    upload.at = read === "part" ? "runs" : "answered";
    if (read !== "part") this.leaves();
  }
}

/** One upload as it is played. */
interface RealUpload {
  at: At;
  sending: ReadableStreamDefaultController<Uint8Array>;
  worked: Gate;
}

class Real {
  readonly uploads: RealUpload[] = [];
  readonly asks: Gate<string>[] = [];
  readonly #app: App;

  constructor(limit: number) {
    const upload = post(
      Path.of("upload"),
      { inputs: { sent: bodyStream({ max: 1e6 }) }, returns: Returns.text },
      async ({ sent }) => {
        const self = this.uploads.at(-1) as RealUpload;
        for (;;) {
          self.at = "waits for its body";
          const read = await sent.read();
          self.at = "answered";
          if (!read.ok || read.value === undefined) return "";
          self.at = "runs";
          await self.worked.passed;
          self.worked = gate();
        }
      },
    );
    const ask = get(Path.of("ask"), { returns: Returns.text }, () => {
      const answered = gate<string>();
      this.asks.push(answered);
      return answered.passed;
    });
    this.#app = App.make([upload, ask], { overload: Overload.make({ maxInFlight: limit }) });
  }

  ask(): void {
    void this.#app.fetch(new Request("http://h/ask"));
  }

  upload(): void {
    const one = { at: "refused", worked: gate() } as unknown as RealUpload;
    const body = new ReadableStream<Uint8Array>({ start: (sending) => void (one.sending = sending) });
    this.uploads.push(one);
    const request: RequestInit = { method: "POST", body, duplex: "half" };
    void this.#app.fetch(new Request("http://h/upload", request));
  }

  async end(): Promise<void> {
    for (let round = 0; round < 100; round++) {
      for (const { worked } of this.uploads) worked.open();
      for (const answered of this.asks.splice(0)) answered.open("");
      await turns();
    }
    this.#app.drain();
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

/** Does one command in both worlds; nothing where it is about no such upload. */
function step(command: Command, model: Model, real: Real, over: Set<number>): void {
  if (command.do === "ask") {
    model.ask();
    real.ask();
  } else if (command.do === "upload") {
    model.upload();
    real.upload();
  } else if (command.do === "stuck") {
    model.stuck();
    vi.advanceTimersByTime(1000);
  } else if (command.do === "answer") {
    if (model.asks === 0) return;
    model.answer();
    real.asks.shift()?.open("");
  } else {
    stepOfUpload(command, model, real, over);
  }
}

function stepOfUpload(command: UploadCommand, model: Model, real: Real, over: Set<number>): void {
  const index = command.which;
  const [upload, played] = [model.uploads[index], real.uploads[index]];
  if (upload === undefined || played === undefined || upload.at === "answered" || upload.at === "refused") return;
  if (command.do === "work") {
    if (upload.at !== "runs") return;
    played.worked.open();
    model.worked(upload);
  } else if (!over.has(index)) {
    if (command.do === "send") played.sending.enqueue(new Uint8Array(8));
    else if (command.do === "end") played.sending.close();
    else played.sending.error(new Error("cut"));
    if (command.do !== "send") over.add(index);
    // What has arrived, and is not read, is lost with the connection.
    if (command.do === "cut") upload.arrived = upload.at === "waits for a place" ? upload.arrived.slice(0, 1) : [];
    model.arrives(upload, command.do === "send" ? "part" : "over");
  }
}

it("runs at most maxInFlight handlers while bodies arrive, and lets them continue in the order of their parts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), commands, async (limit, sequence) => {
      const [model, real, over] = [new Model(limit), new Real(limit), new Set<number>()];
      for (const command of sequence) {
        step(command, model, real, over);
        await turns();
        const seen = real.uploads.map(({ at }) => at);
        // A handler sees no difference between the two waits.
        const foreseen = model.uploads.map(({ at }) => (at === "waits for a place" ? "waits for its body" : at));
        expect([command, seen, real.asks.length]).toEqual([command, foreseen, model.asks]);
      }
      for (const { sending, at } of real.uploads) if (at !== "answered" && at !== "refused") close(sending);
      await real.end();
      expect(real.uploads.every(({ at }) => at === "answered" || at === "refused")).toBe(true);
      // No place is lost: as many as at first are served.
      for (let asked = 0; asked <= limit; asked++) real.ask();
      await turns();
      expect(real.asks).toHaveLength(limit);
      await real.end();
    }),
    played(150),
  );
});

function close(sending: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    sending.close();
  } catch {
    // It was closed or cut before.
  }
}
