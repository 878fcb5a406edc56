/** Pages that fail before and after the head, and promises that are then never awaited. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Answer, App, html as h } from "usher-http";
import type { Html } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { lines, messages } from "../support/logs.ts";
import { appOf, failures, fetched, gate, listOf } from "./page-apps.ts";

describe("a page that fails", () => {
  it.each<readonly [what: string, make: () => Html]>([
    ["a promise that has rejected", () => h`<p>${Promise.reject(new Error("s3cret"))}`],
    ["the first of the page", () => h`${wait(5).then(() => Promise.reject(new Error("s3cret")))}<p>`],
    ["a value that cannot be written", () => h`<p>${Promise.resolve(Symbol("s3cret") as never)}`],
    ["a list that throws at once", () => h`<p>${listOf(Promise.reject(new Error("s3cret"))).list}`],
    [
      "an iterable that throws",
      () =>
        h`${
          {
            [Symbol.asyncIterator]: () => {
              throw new Error("s3cret");
            },
          } as never
        }`,
    ],
  ])("before the head is a 500: %s", async (_what, make) => {
    for (const path of ["", "built"]) {
      const response = await fetched(make, { path });
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("internal")]);
    }
    expect(messages("error")).toHaveLength(2);
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("before the head is a 500, also without a route, or from middleware", async () => {
    const page = () => Answer.html(h`${wait(2).then(() => Promise.reject(new Error("s3cret")))}<p>`, { status: 404 });
    const nowhere = App.make([], { notFound: page });
    expect((await nowhere.fetch(new Request("http://h/"))).status).toBe(500);
    expect((await appOf(() => h`ok`, { middleware: [page] }).fetch(new Request("http://h/"))).status).toBe(500);
    expect(messages("error")).toHaveLength(2);
  });

  it("is generated once, with any middleware around it", async () => {
    const around = [async (_request: unknown, next: () => Promise<Answer>) => next()];
    const { list, told } = listOf(
      "a",
      wait(2).then(() => "b"),
    );
    const { fetch } = appOf(() => h`<p>${list}`, { middleware: around });
    expect(await (await fetch(new Request("http://h/"))).text()).toBe("<p>ab");
    expect(told.ended).toBe(true);
  });

  it("after the head is cut off, and logged", async () => {
    failures.length = 0;
    const late = gate<string>();
    const { list, told } = listOf("x", late.promise);
    const response = await fetched(() => h`<p>${list}</p>`);
    expect(response.status).toBe(200);
    const thrown = new Error("s3cret");
    late.fail(thrown);
    await expect(response.text()).rejects.toThrow("the stream failed");
    await eventually(() => expect(failures).toEqual([[thrown, "stream"]]));
    expect([told.ended, messages("error")]).toEqual([true, ["stream on / failed, so its connection is closed"]]);
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });
});

/** Uncaught errors of a call, while it ran and a little later. */
async function unhandledBy(call: () => unknown): Promise<readonly unknown[]> {
  const unhandled: unknown[] = [];
  const note = (thrown: unknown) => void unhandled.push(thrown);
  process.on("unhandledRejection", note);
  try {
    await call();
    await wait(10);
    return unhandled;
  } finally {
    process.off("unhandledRejection", note);
  }
}

describe("the promises of a template that fails are given up", () => {
  const rejecting = (): never => Promise.reject(new Error("s3cret")) as never;
  it.each<readonly [where: string, make: () => Html]>([
    ["where no promise may stand", () => h`<p title="${rejecting()}">`],
    ["in a wrong template", () => h`<p onclick="x(${rejecting()})">`],
    ["behind a wrong value", () => h`<p>${{} as never}${rejecting()}`],
    ["in a list with a wrong item", () => h`<p>${[{} as never, [rejecting()]]}`],
  ])("%s", async (_where, make) => {
    const unhandled = await unhandledBy(async () => expect((await fetched(make)).status).toBe(500));
    expect(unhandled).toEqual([]);
  });

  it.each<readonly [where: string, make: () => Html]>([
    ["a promise becomes", () => h`<p>${Promise.resolve([{} as never, rejecting()])}`],
    ["an iterable makes", () => h`<p>${listOf([{} as never, rejecting()]).list}`],
  ])("in a list that %s", async (_where, make) => {
    const unhandled = await unhandledBy(async () => expect((await fetched(make)).status).toBe(500));
    expect(unhandled).toEqual([]);
  });
});

it("a later promise of a page that fails, while an earlier one is pending, is no unhandled rejection", async () => {
  const unhandled = await unhandledBy(async () => {
    const first = gate<string>();
    const response = await fetched(
      () => h`<p>${first.promise}${[Promise.reject(new Error("a")), h`${Promise.reject(new Error("b"))}`]}`,
    );
    expect(h`${Promise.reject(new Error("of a page that is never sent"))}`).toBeDefined();
    await wait(10);
    first.open("x");
    await expect(response.text()).rejects.toThrow("the stream failed");
    const head = await fetched(() => h`<p>${wait(2).then(() => Promise.reject(new Error("c")))}`, { method: "HEAD" });
    expect(head.status).toBe(200);
  });
  expect(unhandled).toEqual([]);
});
