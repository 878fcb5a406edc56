/** Calls to other servers end at the deadline of the request that makes them. */
import { describe, expect, it, vi } from "vitest";
import { App, Client, Deadline, HttpClient, Meta, Path, Returns, get } from "usher-http";
import { holdClock } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";
import { serverOfFile } from "../support/http-server.ts";
import { messages } from "../support/logs.ts";

const meta = Meta.empty.add(Meta.deadline, Deadline.make(50));
const stock = get(Path.of("stock"), { returns: Returns.text }, () => "");
type Routes = readonly [typeof stock];

/** A server that never answers; it records requests and disconnects. */
let asked: Gate;
let left: Gate;
const { url: baseUrl } = await serverOfFile((request, response) => {
  asked.open();
  response.on("close", () => left.open());
  request.resume();
});

holdClock();

describe("a call under a deadline", () => {
  it.each([
    [
      "of HttpClient, which rejects",
      () =>
        HttpClient.make({ baseUrl })
          .fetch("/stock")
          .catch((thrown: Error) => thrown.name),
      "TimeoutError",
    ],
    [
      "of HttpClient with a signal of its own",
      () =>
        HttpClient.make({ baseUrl })
          .fetch("/stock", { signal: new AbortController().signal })
          .catch((thrown: Error) => thrown.name),
      "TimeoutError",
    ],
    ["of Client", async () => nameOf(await Client.of<Routes>({ baseUrl })["GET /stock"]()), "unreachable"],
    [
      "of Client with a signal of its own",
      async () => nameOf(await Client.of<Routes>({ baseUrl })["GET /stock"]({ signal: new AbortController().signal })),
      "unreachable",
    ],
  ] as const)("%s ends", async (_what, call, end) => {
    [asked, left] = [gate(), gate()];
    const ended = gate<unknown>();
    const route = get(Path.of("x"), { returns: Returns.text, meta }, async () => {
      ended.open(await call());
      return "late";
    });
    const answer = App.make([route]).fetch(new Request("http://h/x"));
    await asked.passed;
    vi.advanceTimersByTime(70);
    expect((await answer).status).toBe(503);
    await left.passed;
    expect(await ended.passed).toBe(end);
    await expect.poll(() => messages("warn")).toEqual([expect.stringContaining("answered 200 after its deadline")]);
  });
});

function nameOf(outcome: { readonly ok: true } | { readonly ok: false; readonly error: string }): string {
  return outcome.ok ? "answered" : outcome.error;
}
