/** The handler of the page on AWS Lambda, with the sample events of AWS's documentation. */
import { describe, expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("lambda");

type Answered = {
  readonly statusCode: number;
  readonly headers?: { readonly [name: string]: string };
  readonly multiValueHeaders?: { readonly [name: string]: readonly string[] };
  readonly cookies?: readonly string[];
  readonly body: string;
};

// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
const http = {
  version: "2.0",
  routeKey: "$default",
  rawPath: "/my/path",
  rawQueryString: "parameter1=value1&parameter1=value2&parameter2=value",
  cookies: ["cookie1=a", "cookie2=b"],
  headers: { header1: "value1", header2: "value1,value2" },
  queryStringParameters: { parameter1: "value1,value2", parameter2: "value" },
  requestContext: {
    accountId: "123456789012",
    apiId: "api-id",
    domainName: "id.execute-api.us-east-1.amazonaws.com",
    domainPrefix: "id",
    http: { method: "POST", path: "/my/path", protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "agent" },
    requestId: "id",
    routeKey: "$default",
    stage: "$default",
    time: "12/Mar/2020:19:03:58 +0000",
    timeEpoch: 1_583_348_638_390,
  },
  body: "Hello from Lambda",
  pathParameters: { parameter1: "value1" },
  isBase64Encoded: false,
  stageVariables: { stageVariable1: "value1", stageVariable2: "value2" },
};

// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
const functionUrl = {
  ...http,
  rawQueryString: "parameter1=value1&parameter1=value2&parameter2=value",
  requestContext: {
    ...http.requestContext,
    apiId: "<urlid>",
    domainName: "<url-id>.lambda-url.us-west-2.on.aws",
    domainPrefix: "<url-id>",
  },
};

// https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
const rest = {
  resource: "/my/path",
  path: "/my/path",
  httpMethod: "POST",
  headers: { header1: "value1", header2: "value2", cookie: "cookie1=a; cookie2=b" },
  multiValueHeaders: { header1: ["value1"], header2: ["value1", "value2"], cookie: ["cookie1=a; cookie2=b"] },
  queryStringParameters: { parameter1: "value2", parameter2: "value" },
  multiValueQueryStringParameters: { parameter1: ["value1", "value2"], parameter2: ["value"] },
  requestContext: {
    accountId: "123456789012",
    apiId: "id",
    domainName: "id.execute-api.us-east-1.amazonaws.com",
    extendedRequestId: "request-id",
    httpMethod: "POST",
    identity: { sourceIp: "192.0.2.1", userAgent: "user-agent" },
    path: "/my/path",
    protocol: "HTTP/1.1",
    stage: "$default",
  },
  pathParameters: null,
  stageVariables: null,
  body: "Hello from Lambda",
  isBase64Encoded: false,
};

// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
const balancer = {
  requestContext: {
    elb: {
      targetGroupArn: "arn:aws:elasticloadbalancing:region:123456789012:targetgroup/my-target-group/6d0ecf831eec9f09",
    },
  },
  httpMethod: "POST",
  path: "/my/path",
  queryStringParameters: { parameter1: "value2", parameter2: "value" },
  headers: {
    accept: "text/html,application/xhtml+xml",
    "accept-language": "en-US,en;q=0.8",
    "content-type": "text/plain",
    cookie: "cookie1=a; cookie2=b",
    header1: "value1",
    host: "lambda-846800462-us-east-2.elb.amazonaws.com",
    "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_6)",
    "x-amzn-trace-id": "Root=1-5bdb40ca-556d8b0c50dc66f0511bf520",
    "x-forwarded-for": "203.0.113.9, 192.0.2.1",
    "x-forwarded-port": "443",
    "x-forwarded-proto": "https",
  },
  isBase64Encoded: false,
  body: "Hello from Lambda",
};
const multiBalancer = {
  ...balancer,
  headers: undefined,
  queryStringParameters: undefined,
  multiValueHeaders: Object.fromEntries(Object.entries(balancer.headers).map(([name, value]) => [name, [value]])),
  multiValueQueryStringParameters: { parameter1: ["value1", "value2"], parameter2: ["value"] },
};

/** An app that answers with what it received; it is not Usher's, since the handler alone is tried here. */
const echo = `export const app = {
  async fetch(request, { peer }) {
    const { pathname, search, host } = new URL(request.url);
    const received = {
      method: request.method, pathname, search, host, peer, cookie: request.headers.get("cookie"),
      header1: request.headers.get("header1"), body: Buffer.from(await request.arrayBuffer()).toString("latin1"),
    };
    const headers = new Headers({ "content-type": "application/json", "x-received": encodeURIComponent(JSON.stringify(received)) });
    headers.append("set-cookie", "a=1; Path=/");
    headers.append("set-cookie", "b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT");
    headers.append("set-cookie", "c=3");
    return new Response(Uint8Array.of(0, 255, 128), { status: 201, headers });
  },
};`;

async function answering(): Promise<(event: object) => Promise<Answered>> {
  guide.write("app.ts", echo);
  const { handler } = await guide.load<{ handler: (event: object) => Promise<Answered> }>("lambda.ts");
  return handler;
}
const events = { http, functionUrl, rest, balancer, multiBalancer } as const;
type Kind = keyof typeof events;

function received({ headers, multiValueHeaders }: Answered) {
  const [text = ""] = multiValueHeaders?.["x-received"] ?? [headers?.["x-received"] ?? ""];
  return JSON.parse(decodeURIComponent(text)) as { readonly [member: string]: string };
}

function cookiesOf({ headers = {}, multiValueHeaders, cookies }: Answered): readonly string[] {
  if (cookies !== undefined) return cookies;
  if (multiValueHeaders !== undefined) return multiValueHeaders["set-cookie"] ?? [];
  return Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === "set-cookie" ? [value] : []));
}

describe.each(Object.keys(events) as Kind[])("an event of AWS: %s", (kind) => {
  it("is the request that was sent, and its answer has each cookie on its own and the bytes as they are", async () => {
    const handler = await answering();
    const answer = await handler(events[kind]);
    const search =
      kind === "balancer"
        ? "?parameter1=value2&parameter2=value"
        : "?parameter1=value1&parameter1=value2&parameter2=value";
    expect(received(answer)).toMatchObject({
      method: "POST",
      pathname: "/my/path",
      search,
      peer: "192.0.2.1",
      cookie: "cookie1=a; cookie2=b",
      header1: "value1",
      body: "Hello from Lambda",
    });
    expect(answer.statusCode).toBe(201);
    expect([...Buffer.from(answer.body, "base64")]).toEqual([0, 255, 128]);
    expect(cookiesOf(answer)).toEqual(["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "c=3"]);
  });

  it("takes a body of bytes, one that is missing, and a method without one", async () => {
    const handler = await answering();
    const bytes = await handler({ ...events[kind], body: "AP+A", isBase64Encoded: true });
    expect(received(bytes)["body"]).toBe("\u0000\u00ff\u0080");
    expect(received(await handler({ ...events[kind], body: null }))["body"]).toBe("");
    const context = events[kind].requestContext;
    const asGet =
      "http" in context
        ? { ...events[kind], requestContext: { ...context, http: { ...context.http, method: "GET" } } }
        : { ...events[kind], httpMethod: "GET" };
    expect(received(await handler(asGet))).toMatchObject({ method: "GET", body: "" });
  });
});

describe("the path and the query of an event", () => {
  it.each<readonly [string, object, string]>([
    // https://github.com/aws/aws-lambda-go/issues and API Gateway: an HTTP API decodes the path.
    ["a decoded ? of an HTTP API", { ...http, rawPath: "/items/a?b" }, "/items/a%3Fb?q=1"],
    ["a decoded # of an HTTP API", { ...http, rawPath: "/items/a#b" }, "/items/a%23b?q=1"],
    ["a decoded % of an HTTP API", { ...http, rawPath: "/items/100%" }, "/items/100%25?q=1"],
    ["a decoded %41 of an HTTP API", { ...http, rawPath: "/items/%41" }, "/items/%2541?q=1"],
    ["a decoded é of an HTTP API", { ...http, rawPath: "/items/é ü" }, "/items/%C3%A9%20%C3%BC?q=1"],
    ["an encoded ? of a function URL", { ...functionUrl, rawPath: "/items/a%3Fb%20c" }, "/items/a%3Fb%20c?q=1"],
    ["a lonely % of a function URL", { ...functionUrl, rawPath: "/items/100%" }, "/items/100%25?q=1"],
    ["an encoded ? of a REST API", { ...rest, path: "/items/a%3Fb" }, "/items/a%3Fb?q=1"],
    ["a decoded space of a REST API", { ...rest, path: "/items/a b" }, "/items/a%20b?q=1"],
    ["an encoded ? of a load balancer", { ...balancer, path: "/items/a%3Fb" }, "/items/a%3Fb?q=1"],
  ])("keeps %s", async (_what, event, expected) => {
    const handler = await answering();
    const query = {
      rawQueryString: "q=1",
      queryStringParameters: { q: "1" },
      multiValueQueryStringParameters: undefined,
    };
    const { pathname, search } = received(await handler({ ...event, ...query }));
    expect(`${pathname}${search}`).toBe(expected);
  });

  it("removes the stage of an HTTP API, and nothing that only looks like it", async () => {
    const handler = await answering();
    const staged = { ...http, requestContext: { ...http.requestContext, stage: "dev" } };
    for (const [rawPath, pathname] of [
      ["/dev/orders", "/orders"],
      ["/dev", "/"],
      ["/developers", "/developers"],
    ]) {
      expect(received(await handler({ ...staged, rawPath }))["pathname"]).toBe(pathname);
    }
  });

  it("encodes what API Gateway decoded, and leaves what a load balancer passed on", async () => {
    const handler = await answering();
    const odd = { "a&b": ["c=d", "é"] };
    const decoded = await handler({ ...rest, multiValueQueryStringParameters: odd });
    expect(received(decoded)["search"]).toBe("?a%26b=c%3Dd&a%26b=%C3%A9");
    const raw = await handler({ ...multiBalancer, multiValueQueryStringParameters: { "a%26b": ["c%3Dd+e"] } });
    expect(received(raw)["search"]).toBe("?a%26b=c%3Dd+e");
    const none = await handler({ ...rest, queryStringParameters: null, multiValueQueryStringParameters: null });
    expect(received(none)["search"]).toBe("");
  });
});

it("answers by the app of the page", async () => {
  const own = openGuide("lambda");
  const { handler } = await own.load<{ handler: (event: object) => Promise<Answered> }>("lambda.ts");
  const asked = { ...http.requestContext, http: { ...http.requestContext.http, method: "GET" } };
  const answer = await handler({ ...http, rawPath: "/hello", rawQueryString: "", requestContext: asked });
  expect([answer.statusCode, Buffer.from(answer.body, "base64").toString()]).toEqual([200, "Hello."]);
});
