/** What Chromium sends across two origins and within one: forms, fetches and WebSockets (contract 5.7; rows XO, CO, FM-09). */
import { beforeEach, describe, expect, it } from "vitest";
import {
  Answer,
  Codec,
  Cookie,
  Cors,
  Form,
  Path,
  Returns,
  SecureHeaders,
  Sessions,
  Socket,
  get,
  json,
  post,
  setCookie,
} from "usher-http";
import type { AppOptions, Route } from "usher-http";
import type { BrowserContext, Page } from "playwright-core";
import * as v from "valibot";
import { browser as chromium, sharedBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import "../support/logs.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

/** A shop: a signed-in user has a cookie, and each purchase is recorded with its user. */
function shop() {
  const bought: string[] = [];
  const sessions = Sessions.make({
    store: Sessions.memory(),
    shape: v.object({ name: v.string() }),
    idleMs: 3_600_000,
    absoluteMs: 3_600_000,
  });
  const lax = Cookie.named("lax", Codec.string);
  const routes: readonly Route[] = [
    get(Path.root, { returns: Returns.html }, () => form("/buy")),
    post(
      Path.of("sign-in"),
      { inputs: { name: Form.required("name", Codec.string), setCookie }, returns: Returns.response },
      async ({ name, setCookie }) => {
        await sessions.start(setCookie, { name });
        setCookie(Cookie.make(lax, "yes"));
        return Answer.redirect("/", { status: 303 });
      },
    ),
    post(
      Path.of("buy"),
      { inputs: { item: Form.required("item", Codec.string), session: sessions.optional }, returns: Returns.text },
      ({ item, session }) => {
        bought.push(`${item} for ${session?.data.name ?? "nobody"}`);
        return "bought";
      },
    ),
    post(
      Path.of("api"),
      { inputs: { item: json(v.string()), session: sessions.optional }, returns: Returns.json(v.string()) },
      ({ item, session }) => {
        bought.push(`${item} for ${session?.data.name ?? "nobody"}`);
        return "bought";
      },
    ),
    get(
      Path.of("desk"),
      { inputs: { session: sessions.optional }, returns: Returns.websocket(texts) },
      ({ session }) =>
        async (socket) => {
          await socket.send(`hello ${session?.data.name ?? "nobody"}`);
        },
    ),
  ];
  return { routes, bought };
}

/** A page with a form that the user submits, or that submits itself. */
const form = (action: string): string => `<!doctype html>
<form action="${action}" method="post"><input name="item" value="pen"><button>Buy</button></form>`;

describe.skipIf(chromium.isSkipped)(`in Chromium${chromium.why}`, () => {
  let context: BrowserContext;
  let page: Page;
  let own: string;
  let other: string;
  let bought: string[];

  /** The shop on one origin, and on another origin a page whose form is sent to the shop. */
  async function open(options: AppOptions = {}, host = "127.0.0.1"): Promise<void> {
    const made = shop();
    ({ bought } = made);
    const { port } = await start(made.routes, options);
    own = `http://${host}:${port}`;
    const elsewhere = get(Path.root, { returns: Returns.html }, () => form(`${own}/buy`));
    other = `http://${host}:${(await start([elsewhere], {})).port}`;
  }

  async function signIn(): Promise<void> {
    await page.goto(own);
    await page.evaluate(`document.forms[0].action = "/sign-in"; document.forms[0].item.name = "name"`);
    await page.getByRole("button").click();
    await page.waitForURL(`${own}/`);
    expect((await context.cookies()).map(({ name }) => name).toSorted()).toEqual(["lax", "session"]);
  }

  async function press(at: string): Promise<string> {
    await page.goto(at);
    await page.getByRole("button").click();
    await page.waitForURL(`${own}/buy`);
    return page.locator("body").innerText();
  }

  beforeEach(async () => {
    context = await (await sharedBrowser()).newContext();
    page = await context.newPage();
    return () => context.close();
  });

  const refused =
    '{"error":"cross_origin","message":"That request came from another site, so it was not carried out."}';

  it("XO-06 a form of the same origin is accepted, with and without a cookie", async () => {
    await open();
    expect(await press(own)).toBe("bought");
    await signIn();
    expect(await press(own)).toBe("bought");
    expect(bought).toEqual(["pen for nobody", "pen for pen"]);
  });

  it("XO-01, FM-09 a form of another origin is refused, with and without a cookie", async () => {
    await open();
    expect(await press(other)).toBe(refused);
    await signIn();
    expect(await press(other)).toBe(refused);
    expect(bought).toEqual([]);
  });

  it.each(["127.0.0.1", "localhost"])(
    "keeps the cookies of an HTTP server on %s whose names need Secure",
    async (host) => {
      const names = ["__Host-a", "__host-b", "__Secure-c", "d"];
      const set = get(Path.root, { inputs: { setCookie }, returns: Returns.html }, ({ setCookie }) => {
        for (const name of names) setCookie(Cookie.make(Cookie.named(name, Codec.string), "v"));
        return "set";
      });
      const { port } = await start([set], {});
      await page.goto(`http://${host}:${port}`);
      expect((await context.cookies()).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    },
  );

  it("XO-03 a form of another port of the host is of another origin, although the browser sends the cookies", async () => {
    await open({ checkOrigin: false });
    await signIn();
    // Without the check it would run in the name of the user: cookies ignore ports.
    expect(await press(other)).toBe("bought");
    expect(bought).toEqual(["pen for pen"]);
  });

  it("XO-04 a form of a page that hides its origin is refused", async () => {
    await open();
    const sent = page.waitForRequest(`${own}/buy`);
    expect(await press(`data:text/html,${encodeURIComponent(form(`${own}/buy`))}`)).toBe(refused);
    expect((await (await sent).allHeaders())["origin"]).toBe("null");
    expect(bought).toEqual([]);
  });

  it("XO a form of a trusted origin is accepted", async () => {
    await open();
    const trusted = other;
    const made = shop();
    const { port } = await start(made.routes, { trustedOrigins: [trusted] });
    await page.goto(trusted);
    await page.evaluate(`document.forms[0].action = "http://127.0.0.1:${port}/buy"`);
    await page.getByRole("button").click();
    await page.waitForURL(`http://127.0.0.1:${port}/buy`);
    expect(made.bought).toEqual(["pen for nobody"]);
  });

  it("XO-07 without HTTPS and not on loopback, where a browser sends only Origin, forms of the same origin are accepted", async () => {
    // Chromium sends no Sec-Fetch-Site to a plain HTTP site whose name is not a loopback name.
    await open({ secureHeaders: SecureHeaders.make() }, "shop.example");
    const sent = page.waitForRequest(`${own}/buy`);
    expect(await press(own)).toBe("bought");
    const headers = await (await sent).allHeaders();
    expect([headers["sec-fetch-site"], headers["origin"]]).toEqual([undefined, own]);
    other = other.replace("shop.example", "evil.example");
    expect(await press(other)).toBe(refused);
    expect(bought).toEqual(["pen for nobody"]);
  });

  it("XO-19 a WebSocket of another origin is refused, and one of the same origin is opened", async () => {
    await open();
    await signIn();
    const opened = (url: string) =>
      page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket("${url.replace("http", "ws")}/desk");
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = () => resolve("refused");
    })`);
    await page.goto(own);
    expect(await opened(own)).toBe("hello pen");
    await page.goto(other);
    expect(await opened(own)).toBe("refused");
  });

  const fetching = (init: string) =>
    page.evaluate(`fetch("${own}/api", { method: "POST", ${init} })
    .then((answer) => (answer.type === "opaque" ? "sent" : answer.json()), () => "not let")`);
  const plainJson = `body: '"pen"', headers: { "content-type": "application/json" }`;

  it("CO-10 a fetch of another origin has a preflight, and is refused", async () => {
    await open();
    await page.goto(other);
    expect(await fetching(plainJson)).toBe("not let");
    // The check refuses a request that needs no preflight.
    expect(await fetching(`body: '"pen"', mode: "no-cors"`)).toBe("sent");
    expect(bought).toEqual([]);
  });

  it("CO-01, CO-09 a fetch of an origin in the policy is allowed, with cookies if the policy allows credentials", async () => {
    await open();
    const made = shop();
    const cors = Cors.make({ origins: [other], credentials: true });
    const { port } = await start(made.routes, { cors });
    own = `http://127.0.0.1:${port}`;
    await signIn();
    await page.goto(other);
    expect(await fetching(plainJson)).toBe("bought");
    expect(await fetching(`${plainJson}, credentials: "include"`)).toBe("bought");
    expect(made.bought).toEqual(["pen for nobody", "pen for pen"]);
  });

  it("CO-12, CO-13 a fetch of any origin is allowed by a policy for any origin, but without cookies", async () => {
    await open({ cors: Cors.make({ origins: "any" }) });
    await signIn();
    await page.goto(other);
    expect(await fetching(plainJson)).toBe("bought");
    expect(await fetching(`${plainJson}, credentials: "include"`)).toBe("not let");
    expect(bought).toEqual(["pen for nobody"]);
  });
});
