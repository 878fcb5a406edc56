/** `POST /orders/import` of the orders example: a CSV file of orders, placed all or not at all. */
import { beforeEach, describe, expect, it } from "vitest";
import { Dep, Test, Sessions } from "usher-http";
import { maxBody } from "../../examples/orders/import.ts";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import "../support/logs.ts";

let app: Test.TestApp;
beforeEach(() => {
  app = Test.app(routes, {
    maxBody,
    resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
  });
});

function form(content: string | Uint8Array<ArrayBuffer>, filename = "orders.csv"): FormData {
  const form = new FormData();
  form.append("orders", new Blob([content], { type: "text/csv" }), filename);
  return form;
}

async function imported(content: string | Uint8Array<ArrayBuffer>): Promise<Test.Answered> {
  return Test.call(app, "POST", "/orders/import", { body: form(content) });
}

/** `form.orders[2].item too_short This must be …`, a problem each. */
function problemsOf(answer: Test.Answered): string[] {
  const { problems } = answer.json() as { problems: { at: string; code: string; message: string }[] };
  return problems.map(({ at, code, message }) => `${at} ${code} ${message}`);
}

/** `pen 2`, an order each. */
async function placed(): Promise<string[]> {
  const orders = await Test.call(app, "GET", "/orders");
  return (orders.json() as { item: string; quantity: number }[]).map(({ item, quantity }) => `${item} ${quantity}`);
}

const long = "x".repeat(101);
const notWhole = "malformed This is not a whole number.";
const tooShort = "too_short This must be at least 1 character long.";
const tooLong = "too_long This must be at most 100 characters long.";
const tooSmall = "too_small This must be at least 1.";
const quotes = "malformed A quote in this line is misplaced, or not closed.";
const header = "form.orders[1] malformed This must be the header item,quantity.";

describe("importing orders: rows", () => {
  it.each<[what: string, file: string, orders: string[]]>([
    ["an order a line", "item,quantity\npen,2\nink,30\n", ["pen 2", "ink 30"]],
    ["no line end at the end", "item,quantity\npen,2", ["pen 2"]],
    ["CRLF", "item,quantity\r\npen,2\r\nink,3\r\n", ["pen 2", "ink 3"]],
    ["a byte order mark", "\ufeffitem,quantity\npen,2\n", ["pen 2"]],
    ["blank lines", "item,quantity\n\npen,2\r\n\r\n\n", ["pen 2"]],
    ["quotes", '"item","quantity"\n"pen, ""the"" blue\none","2"\n', ['pen, "the" blue\none 2']],
    ["no orders", "item,quantity\n", []],
    ["a hundred characters of two units each", `item,quantity\n${"😀".repeat(100)},1\n`, [`${"😀".repeat(100)} 1`]],
  ])("places %s", async (_what, file, orders) => {
    const answer = await imported(file);
    expect([answer.status, answer.json()]).toEqual([200, { placed: orders.length }]);
    expect(await placed()).toEqual(orders);
  });

  it.each<[what: string, file: string | Uint8Array<ArrayBuffer>, problems: string[]]>([
    ["no item", "item,quantity\n,2\n", [`form.orders[2].item ${tooShort}`]],
    ["a long item", `item,quantity\n${long},2\n`, [`form.orders[2].item ${tooLong}`]],
    ["a quantity of nothing", "item,quantity\npen,0\n", [`form.orders[2].quantity ${tooSmall}`]],
    ["a quantity that is text", "item,quantity\npen,two\n", [`form.orders[2].quantity ${notWhole}`]],
    ["a quantity with a fraction", "item,quantity\npen,0.5\n", [`form.orders[2].quantity ${notWhole}`]],
    ["a quantity with a space", "item,quantity\npen, 2\n", [`form.orders[2].quantity ${notWhole}`]],
    ["an empty quantity", "item,quantity\npen,\n", [`form.orders[2].quantity ${notWhole}`]],
    ["one column", "item,quantity\npen\n", ["form.orders[2].quantity required This is required."]],
    ["three columns", "item,quantity\npen,2,3\n", ["form.orders[2] too_many This must have at most 2 columns."]],
    ["a quote within a field", 'item,quantity\npe"n,2\n', [`form.orders[2] ${quotes}`]],
    [
      "a quote that is never closed",
      'item,quantity\n"pen,2\nink,0',
      [`form.orders[2] ${quotes}`, `form.orders[3].quantity ${tooSmall}`],
    ],
    [
      "both columns",
      `item,quantity\n${long},-1\n`,
      [`form.orders[2].item ${tooLong}`, `form.orders[2].quantity ${tooSmall}`],
    ],
    [
      "some lines of many, as an editor counts them",
      'item,quantity\r\npen,2\r\n"a\r\nb",3\r\n\r\n,x\r\nink,4\r\n"a\nb",0\r\n',
      [`form.orders[6].item ${tooShort}`, `form.orders[6].quantity ${notWhole}`, `form.orders[8].quantity ${tooSmall}`],
    ],
    [
      "a line that is wrong beside one that is sold out",
      "item,quantity\nunicorn,1\npen,0\n",
      [`form.orders[3].quantity ${tooSmall}`],
    ],
    ["nothing at all", "", [header]],
    ["no header", "pen,2\nink,x\n", [header]],
    ["the columns the other way round", "quantity,item\n2,pen\n", [header]],
    ["both names in one field", '"item,quantity"\npen,2\n', [header]],
    ["bytes that are no UTF-8", new Uint8Array([0x69, 0xe9, 0x0a]), ["form.orders malformed This is not text."]],
  ])("reports %s", async (_what, file, problems) => {
    const answer = await imported(file);
    expect([answer.status, problemsOf(answer)]).toEqual([400, problems]);
    expect(await placed()).toEqual([]);
  });
});

describe("importing orders: faults", () => {
  it.each<[item: string, quantity: number]>([
    ["", 1],
    [long, 1],
    ["pen", 0],
    ["pen", -1],
    ["", 0],
  ])("reports for %j, %d the same as POST /orders", async (item, quantity) => {
    const one = await Test.call(app, "POST", "/orders", { body: { item, quantity } });
    const line = await imported(`item,quantity\n${item},${quantity}\n`);
    expect(line.body).toBe(one.body.replaceAll('"body.', '"form.orders[2].'));
    expect(line.status).toBe(one.status);
  });

  it("reports a thousand problems, the last that there are more", async () => {
    const problems = problemsOf(await imported(`item,quantity\n${"pen,0\n".repeat(10_001)}`));
    expect(problems).toHaveLength(1000);
    expect(problems.slice(-2)).toEqual([
      `form.orders[1000].quantity ${tooSmall}`,
      "form.orders too_many This has more problems than are told.",
    ]);
  });

  it("refuses more orders than one transaction can place in its time", async () => {
    const most = "a,1\n".repeat(100_000);
    const problems = problemsOf(await imported(`item,quantity\n${most}a,1\n`));
    expect(problems).toEqual(["form.orders too_many This must have at most 100000 orders."]);
    expect(await placed()).toEqual([]);
    expect((await imported(`item,quantity\n${most}`)).json()).toEqual({ placed: 100_000 });
  });

  it("creates no order if one is sold out", async () => {
    const answer = await imported("item,quantity\npen,2\nunicorn,1\n");
    expect([answer.status, answer.json()]).toEqual([
      409,
      { error: "sold_out", message: "There are no unicorns left." },
    ]);
    expect(await placed()).toEqual([]);
  });
});

describe("a request to import with", () => {
  it.each<[what: string, body: FormData | URLSearchParams]>([
    ["no file", new FormData()],
    ["no file chosen", form("", "")],
    ["a form that can hold no file", new URLSearchParams({ orders: "item,quantity\npen,2" })],
  ])("%s is refused", async (_what, body) => {
    const answer = await Test.call(app, "POST", "/orders/import", { body });
    expect([answer.status, problemsOf(answer)]).toEqual([400, ["form.orders required This is required."]]);
  });

  it("another content type is refused", async () => {
    const headers = { "content-type": "text/csv" };
    const answer = await Test.call(app, "POST", "/orders/import", { headers, body: "item,quantity\npen,2\n" });
    expect(answer.status).toBe(415);
  });

  it.each<[bytes: number, status: number]>([
    [10_485_760, 200],
    [10_485_761, 413],
    [10_485_760 + 16_384, 413],
  ])("a file of %d bytes is %d", async (bytes, status) => {
    const [header, item] = ["item,quantity\n", "pen,"];
    // Zeros, and not line ends: those would be ten million rows to read.
    const answer = await imported(`${header}${item}${"2".padStart(bytes - header.length - item.length, "0")}`);
    expect(answer.status).toBe(status);
    expect(await placed()).toEqual(status === 200 ? ["pen 2"] : []);
  });
});
