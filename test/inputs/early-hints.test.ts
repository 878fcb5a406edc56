/** The input `earlyHints`: what it takes, and where it sends nothing. How a listener sends them: test/adapters/node/early-hints.test.ts. */
import { describe, expect, it } from "vitest";
import { App, Event, Path, Returns, Socket, Test, earlyHints, get } from "usher-http";
import { messages } from "../support/logs.ts";

const style = "</style.css>; rel=preload; as=style";

/** What `earlyHints` throws in a handler, who gives it these links; undefined where it takes them. */
async function raises(links: unknown): Promise<string | undefined> {
  let message: string | undefined;
  const page = get(Path.of("page"), { inputs: { earlyHints }, returns: Returns.text }, ({ earlyHints }) => {
    earlyHints(links as readonly string[]);
    return "page";
  });
  const onError = (error: unknown): void => void (message = (error as Error).message);
  const { status } = await Test.call(Test.app([page], { onError }), "GET", "/page");
  expect(status).toBe(message === undefined ? 200 : 500);
  return message;
}

describe("earlyHints: a link", () => {
  it.each([
    style,
    "<https://cdn.example/a.js>; rel=modulepreload",
    "<//cdn.example>; rel=preconnect; crossorigin",
    '</large.png>; rel="preload"; as=image; media="(min-width: 600px), print"; imagesrcset="a.png 1x, b.png 2x"',
    '</a.css>;rel="preload stylesheet";title="a \\"b\\" ; c"',
    "</a.css> ;\trel=preload ; nopush",
    "<>; REL=preload",
    "</x?a=b&c=%20#d>; rel=prefetch; fetchpriority=high",
    "</a.css>; title*=UTF-8''a%20b; rel=preload",
  ])("is taken: %s", async (link) => {
    expect(await raises([link])).toBeUndefined();
  });

  it.each([
    ["no link", "/style.css"],
    ["an empty text", ""],
    ["a header", "Link: </a>; rel=preload"],
    ["no end of the target", "</a.css; rel=preload"],
    ["a blank in the target", "</a b>; rel=preload"],
    ["CR LF at the end", `${style}\r\n`],
    ["CR LF and a header", `${style}\r\nset-cookie: a=b`],
    ["CR LF in the target", "</a\r\nb>; rel=preload"],
    ["CR LF in quotes", '</a>; rel="preload\r\n\r\nHTTP/1.1 200 OK"'],
    ["LF", "</a>; rel=preload\n"],
    ["NUL", "</a\0>; rel=preload"],
    ["DEL", "</a\x7f>; rel=preload"],
    ["letters past ASCII", "</ä.css>; rel=preload"],
    ["letters past Latin-1", "</a.css>; rel=preload; title=\u010a"],
    ["an emoji in quotes", '</a.css>; rel=preload; title="\u{1f600}"'],
    ["two links", `${style}, ${style}`],
    ["an open quote", '</a>; rel="preload'],
    ["a parameter without a name", "</a>; =preload"],
    ["a bare semicolon", "</a>; rel=preload;"],
    ["something behind the target", "</a> rel=preload"],
    ["blanks around it", ` ${style}`],
  ])("is refused: %s", async (_what, link) => {
    expect(await raises([style, link])).toBe(
      'earlyHints: link 2 of 2 is not a value of Link (RFC 8288 §3): write one link in ASCII, as "</a.css>; rel=preload; as=style"',
    );
  });

  it.each([
    "</a.css>",
    "</a.css>; as=style",
    '</a.css>; title="; rel=preload"',
    "</a.css>; rel",
    "</a.css>; xrel=preload",
  ])("is refused without its relation: %s", async (link) => {
    expect(await raises([link])).toBe("earlyHints: link 1 of 1 has no rel: write what it is for, as rel=preload");
  });

  it("is refused where all of them are too long for a head", async () => {
    const links = (length: number) => [
      style,
      `</${"a".repeat(length - style.length - "</>; rel=preload".length)}>; rel=preload`,
    ];
    expect(await raises(links(8192))).toBeUndefined();
    expect(await raises(links(8193))).toBe("earlyHints: its links have 8193 characters, and may have 8192");
  });

  it("is not quoted in a log line", async () => {
    await raises(["</secret>"]);
    expect(messages("error")).toHaveLength(1);
    expect(JSON.stringify(messages("error"))).not.toMatch(/secret|earlyHints/);
  });

  it.each([[undefined], [null], [style], [{ link: style }], [[undefined]], [[style, 1]]])(
    "is refused where it is no list of texts: %j",
    async (links) => {
      expect(await raises(links)).toMatch(/^earlyHints: its links is .*, and not a list of texts$/);
    },
  );
});

const hinting = get(Path.of("page"), { inputs: { earlyHints }, returns: Returns.text }, ({ earlyHints }) => {
  earlyHints([style]);
  earlyHints([]);
  return "page";
});

describe("earlyHints: where nothing is sent", () => {
  it("app.fetch answers as without them", async () => {
    const response = await App.make([hinting]).fetch(new Request("http://h/page"));
    expect([response.status, response.headers.get("link"), await response.text()]).toEqual([200, null, "page"]);
    expect(messages("warn")).toEqual([]);
  });

  it("Test.call answers as without them", async () => {
    const { status, body, headers } = await Test.call(Test.app([hinting]), "GET", "/page");
    expect([status, headers.get("link"), body]).toEqual([200, null, "page"]);
  });

  it("after the answer is made: a warn line says so", async () => {
    let late = (_links: readonly string[]): void => {};
    const route = get(Path.of("page"), { inputs: { earlyHints }, returns: Returns.text }, ({ earlyHints }) => {
      late = earlyHints;
      return "page";
    });
    await Test.call(Test.app([route]), "GET", "/page");
    late([style]);
    expect(messages("warn")).toEqual(["/page sent early hints after its answer had gone, which changed nothing"]);
    expect(() => late(["no link"])).toThrow("not a value of Link");
  });

  it("a producer of a stream is too late", async () => {
    const route = get(
      Path.of("page"),
      { inputs: { earlyHints }, returns: Returns.events([]) },
      ({ earlyHints }) =>
        async (send) => {
          earlyHints([style]);
          await send(Event.comment("x"));
        },
    );
    const response = await App.make([route]).fetch(new Request("http://h/page"));
    expect(await response.text()).toContain(": x");
    expect(messages("warn")).toHaveLength(1);
  });

  it("a route of a WebSocket is refused when the app is made: its client expects a 101", () => {
    const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
    const socket = get(
      Path.of("s"),
      { inputs: { earlyHints }, returns: Returns.websocket(protocol) },
      () => async () => {},
    );
    expect(() => App.make([socket])).toThrow("GET /s has earlyHints, and a WebSocket has none: remove that input");
  });
});
