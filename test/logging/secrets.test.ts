/**
 * No value of a header, a cookie, a query, a form, a file, a body or a statement is in any line or span.
 * That holds at any level, with any route and any result (contract 5.10, 7.6; row LG-10). A path's is only in `url.path` and the message.
 */
import { afterEach, describe, expect, it } from "vitest";
import * as v from "valibot";
import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Event,
  Form,
  Header,
  HttpClient,
  Log,
  Metrics,
  Path,
  Query,
  Refusal,
  Returns,
  Socket,
  Test,
  Trace,
  addHeader,
  body,
  bodyStream,
  get,
  json,
  multipart,
  param,
  post,
  refuse,
  request,
  setCookie,
} from "usher-http";
import type { Route } from "usher-http";
import { openStatement } from "../../src/telemetry/span.ts";
import { logWith, logged } from "../support/logs.ts";
import { start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";
import { Collector } from "../telemetry/collector.ts";
import { kept, registered } from "../telemetry/kept-spans.ts";

const secret = "s3cret";
const text = { returns: Returns.text };
const name = Path.str("name");
const number = Path.int("number");
const sold = Refusal.code("sold_out", { status: 409, doc: "There is none." });

/** Every input that reads text, each refusing an invalid number, and each accepting it. */
const strict = {
  auth: Header.optional("authorization", Codec.credentials),
  n: Header.optional("x-n", Codec.int),
  session: Cookie.optional(Cookie.named("session", Codec.int)),
  code: Query.optional("code", Codec.int),
};
const loose = {
  auth: Header.optional("authorization", Codec.string),
  session: Cookie.optional(Cookie.named("session", Codec.string)),
  code: Query.list("code", Codec.string),
  request,
};

class Told extends Error {
  override readonly name: string = `Told ${secret}`;
  readonly detail = secret;
}

/** The possible output of a request. */
const endings: { readonly [ending: string]: () => string | Refusal<"sold_out"> } = {
  answers: () => "",
  refuses: () => refuse(sold, "There is none."),
  raises: () => {
    throw new Told(`${secret}\n    at ${secret} (${secret}:1:1)`, { cause: new Error(secret) });
  },
  throws: () => {
    throw secret;
  },
  parses: () => JSON.parse(`{"${secret}`) as string,
};

const bodies = {
  none: {},
  json: { sent: json(v.object({ password: v.string() })) },
  strictJson: { sent: json(v.object({ password: v.number() })) },
  whole: { sent: body },
  form: {
    field: Form.required("password", Codec.string),
    file: Form.File.optional("file"),
    all: Form.list("password", Codec.string),
  },
  strictForm: { field: Form.required("password", Codec.int), file: Form.File.required("other") },
  stream: { sent: bodyStream({ max: 10 }) },
  parts: { sent: multipart({ max: 1000 }) },
} as const;

const routes: Route[] = [];
for (const [ending, end] of Object.entries(endings)) {
  for (const [kind, inputs] of Object.entries(bodies)) {
    for (const [how, texts] of Object.entries({ strict, loose })) {
      const declaration = { inputs: { ...texts, ...inputs, name: param(name) }, ...text, refuses: [sold] };
      routes.push(post(Path.of(ending, kind, how, name), declaration, end));
    }
  }
}
routes.push(
  get(Path.of("number", number), { inputs: { number: param(number) }, ...text }, () => ""),
  get(
    Path.of("sets"),
    { inputs: { setCookie, addHeader, ...loose }, ...text },
    ({ setCookie, addHeader, auth = "" }) => {
      setCookie(Cookie.make(Cookie.named("c", Codec.string), secret));
      addHeader("x-value", auth);
      addHeader("connection", auth);
      return secret;
    },
  ),
  get(Path.of("unwritable"), { inputs: loose, returns: Returns.response }, ({ auth = "" }) =>
    Answer.make("", { headers: [["x-value", `${auth}\u0000`]] }),
  ),
  get(Path.of("unlisted"), { inputs: loose, returns: Returns.response }, ({ auth = "" }) =>
    Answer.make(auth, { status: 299 }),
  ),
  get(
    Path.of("joins"),
    {
      inputs: {
        x: Dep.join(loose, ({ auth = "" }) => Dep.problem({ at: "header.authorization", code: "no", message: auth })),
      },
      ...text,
    },
    () => "",
  ),
  get(Path.of("streams"), { inputs: loose, returns: Returns.response }, ({ auth = "" }) => {
    async function* parts() {
      yield new TextEncoder().encode(auth);
      throw new Told(auth);
    }
    return Answer.stream(parts());
  }),
  get(
    Path.of("events"),
    { inputs: loose, returns: Returns.events([Event.text("told")]) },
    ({ auth = "" }) =>
      async (send) => {
        await send(Event.make(Event.text("told"), auth));
        await send(Event.make(Event.text("told"), auth, { id: `${auth}\n` }));
        throw new Told(auth);
      },
  ),
  get(Path.of("traces"), { inputs: loose, ...text }, async ({ auth = "" }) => {
    const statement = openStatement("select * from orders where owner = $1");
    statement?.end();
    return Trace.span("work", () => Promise.reject(new Told(auth)));
  }),
  get(
    Path.of("socket"),
    {
      inputs: loose,
      returns: Returns.websocket(Socket.protocol({ client: Socket.json(v.number()), server: Socket.text })),
    },
    ({ auth = "" }) =>
      async (socket) => {
        await socket.send(auth);
        for await (const said of socket) throw new Told(String(said));
      },
  ),
);

const headers = [
  ["authorization", `Bearer ${secret}`],
  ["cookie", `session=${secret}; other=${secret}`],
  ["x-n", secret],
  ["x-request-id", secret],
  ["x-forwarded-for", secret],
  ["origin", `https://${secret}.example`],
  ["user-agent", secret],
  ["referer", `https://${secret}.example/`],
  ["tracestate", `a=${secret}`],
  ["last-event-id", secret],
] as const;

const form = () => {
  const made = new FormData();
  made.append("password", secret);
  made.append("file", new File([secret], `${secret}.txt`, { type: `text/${secret}` }));
  return made;
};

/** The bodies that are sent: valid, of another shape, and broken. */
const sent: { readonly [what: string]: () => { readonly body: string | FormData; readonly type?: string } } = {
  json: () => ({ body: `{"password":"${secret}"}`, type: "application/json" }),
  "broken json": () => ({ body: `{"${secret}`, type: "application/json" }),
  form: () => ({ body: `password=${secret}&${secret}=1`, type: "application/x-www-form-urlencoded" }),
  multipart: () => ({ body: form() }),
  "broken multipart": () => ({
    body: `--${secret}\r\n${secret}: ${secret}\r\n`,
    type: `multipart/form-data; boundary=${secret}`,
  }),
  "another type": () => ({ body: secret, type: `text/${secret}` }),
};

const spanText = (spans: ReturnType<ReturnType<typeof kept>["spans"]>) =>
  JSON.stringify(spans.map(({ name, attributes, status, events, links }) => [name, attributes, status, events, links]));

afterEach(() => Log.setup());

describe.each(["json", "pretty"] as const)("LG-10 in %s lines at debug, and in spans: of requests", (format) => {
  const begin = () => {
    logWith({ level: "debug", format });
    const { trace, spans } = kept();
    return { app: Test.app(routes, { trace, checkOrigin: false, notFound: () => Answer.make(secret) }), spans };
  };
  const check = (spans: ReturnType<ReturnType<typeof kept>["spans"]>, atLeast: number) => {
    expect(logged().length).toBeGreaterThanOrEqual(atLeast);
    expect(spans.length).toBeGreaterThanOrEqual(atLeast);
    expect(logged().find((line) => line.includes(secret))).toBeUndefined();
    expect(spanText(spans)).not.toContain(secret);
  };

  it.each(Object.entries(sent))("no text of a header, cookie, query or body: %s", async (_what, make) => {
    const { app, spans } = begin();
    const paths = routes.filter(({ method }) => method === "POST").map(({ pattern }) => pattern.replace("{name}", "x"));
    for (const path of paths) {
      const { body, type } = make();
      const of = type === undefined ? headers : [...headers, ["content-type", type] as const];
      // An undeclared status or code throws in the test itself, after the line.
      await Test.call(app, "POST", `${path}?code=${secret}&${secret}=${secret}`, { headers: of, body }).catch(() => {});
    }
    check(spans(), paths.length);
  });

  it("also for every other kind of route", async () => {
    const { app, spans } = begin();
    const paths = [
      "/sets",
      "/unwritable",
      "/unlisted",
      "/joins",
      "/streams",
      "/traces",
      "/socket",
      "/no/where",
      "/sets/",
      "/number/x",
    ];
    for (const path of paths) {
      await Test.call(app, "GET", `${path}?code=${secret}`, { headers }).catch(() => {});
    }
    await Test.events(app, `/events?code=${secret}`, () => {}, { headers }).catch(() => {});
    const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
    for (const said of ["1", secret]) {
      await Test.websocket(
        app,
        protocol,
        `/socket?code=${secret}`,
        (socket) => socket.send(said).then(() => socket.receive?.()) as never,
        { headers },
      ).catch(() => {});
    }
    // In addition an event stream and two sockets.
    check(spans(), paths.length + 3);
  });
});

describe.each(["json", "pretty"] as const)("LG-10 in %s lines at debug, and in spans: of paths", (format) => {
  const begin = () => {
    logWith({ level: "debug", format });
    const { trace, spans } = kept();
    return { app: Test.app(routes, { trace, checkOrigin: false, notFound: () => Answer.make(secret) }), spans };
  };

  it("a path's value is only in the fields of its path", async () => {
    const { app, spans } = begin();
    const paths = [`/number/${secret}`, `/answers/none/loose/${secret}`, `/raises/none/loose/${secret}`, `/${secret}`];
    for (const path of paths) {
      await Test.call(app, path.startsWith("/number") ? "GET" : "POST", path, {}).catch(() => {});
    }
    const told = spans().map(({ name, attributes: { "url.path": path, ...others }, status }) => {
      return { path, isTold: JSON.stringify([name, status, others]).includes(secret) };
    });
    expect(told).toEqual(paths.map((path) => ({ path, isTold: false })));
    // A line has its path in its message and in `url.path`, once each.
    const left = logged().map((line) => paths.reduce((left, path) => left.replace(path, "").replace(path, ""), line));
    expect(left.length).toBeGreaterThanOrEqual(paths.length);
    expect(logged().filter((line) => line.includes(secret)).length).toBeGreaterThanOrEqual(paths.length);
    expect(left.filter((line) => line.includes(secret))).toEqual([]);
  });

  it("also for requests that a listener refuses before there is a request", async () => {
    logWith({ level: "debug", format });
    const { port } = await start(routes);
    const broken = [
      ["GET /x HTTP/1.1", `x: ${secret}`, ` ${secret}: x`],
      [`GET /x HTTP/9.${secret}`, "host: h"],
      ["GET /x HTTP/1.1", `host: ${secret} ${secret}`],
      [`CONNECT ${secret} HTTP/1.1`, "host: h"],
      ["POST /x HTTP/1.1", "host: h", `content-length: ${secret}`],
      ["POST /x HTTP/1.1", "host: h", `transfer-encoding: ${secret}`],
      [
        "POST /answers/json/loose/x HTTP/1.1",
        "host: h",
        "content-type: application/json",
        "transfer-encoding: chunked",
        "",
        `${secret}\r\n`,
      ],
    ];
    for (const lines of broken) {
      const client = await RawClient.to(port);
      client.send(...lines, "", "");
      client.socket.end();
      await client.closed();
    }
    expect(logged().length).toBeGreaterThanOrEqual(broken.length);
    expect(logged().find((line) => line.includes(secret))).toBeUndefined();
  });
});

it("LG-10 also for the calls of a client, and their responses", async () => {
  logWith({ level: "debug" });
  const { trace, spans } = kept();
  const { url } = await start([
    get(Path.of("upstream"), { inputs: { request }, returns: Returns.response }, () =>
      Answer.make(secret, { headers: [["x-secret", secret]], status: 418 }),
    ),
  ]);
  const client = HttpClient.make({ baseUrl: url, headers: { authorization: secret } });
  const front = get(Path.of("front"), text, async () => {
    await client.fetch(`/upstream?code=${secret}#${secret}`, {
      method: "POST",
      body: secret,
      headers: { "x-key": secret },
    });
    await client.fetch(`https://${secret}.example/`).catch(() => {});
    return (await client.fetch(`/upstream?${secret}`)).text();
  });
  await Test.call(Test.app([front], { trace }), "GET", "/front");
  expect(logged().length).toBeGreaterThanOrEqual(3);
  expect(logged().join("\n")).not.toContain(secret);
  expect(spanText(spans())).not.toContain(secret);
});

it("LG-10 also in the data for a collector, for Prometheus, and for a registered provider", async () => {
  logWith({ level: "debug" });
  const collector = await Collector.up();
  const theirs = registered();
  const otlp = Trace.otlp({ endpoint: collector.endpoint, service: "shop" });
  const all = [...routes, ...Metrics.routes()];
  const options = { checkOrigin: false, notFound: () => Answer.make(secret) };
  const apps = [Test.app(all, { ...options, trace: otlp }), Test.app(all, options)];
  for (const app of apps) {
    for (const { method, pattern } of routes) {
      const path = pattern.replace(/\{\w+\}/, "x");
      const sending = method === "POST" ? { body: form() } : {};
      await Test.call(app, method, `${path}?code=${secret}`, { headers, ...sending }).catch(() => {});
    }
    await Test.call(app, secret, "/sets", { headers }).catch(() => {});
  }
  await otlp.shutdown();
  const page = (await Test.call(apps[0] as Test.TestApp, "GET", "/metrics")).body;
  expect(collector.spans.length).toBeGreaterThanOrEqual(routes.length);
  expect(theirs.spans().length).toBeGreaterThanOrEqual(routes.length);
  expect(page).toContain("http_server_request_duration_seconds_count");
  const told = collector.spans.map(({ name, attributes, status }) => [name, attributes, status]);
  // A client's invented method is an attribute, as OpenTelemetry defines it; no other text of a request is sent.
  const others = JSON.stringify(told).replaceAll(
    `{"key":"http.request.method_original","value":{"stringValue":"${secret}"}}`,
    "",
  );
  expect(others).not.toContain(secret);
  expect(page).not.toContain(secret);
  expect(spanText(theirs.spans()).replaceAll(`"http.request.method_original":"${secret}"`, "")).not.toContain(secret);
});
