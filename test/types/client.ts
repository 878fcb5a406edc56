/** The typed client: what a caller is given by the routes' types, and what the compiler must refuse. */
import * as v from "valibot";
import {
  Client,
  Codec,
  Dep,
  Event,
  Form,
  Header,
  Health,
  HttpClient,
  Metrics,
  Openapi,
  Path,
  Query,
  Refusal,
  Result,
  Returns,
  Shape,
  Socket,
  Test,
  answer,
  bodyStream,
  get,
  json,
  jsonLines,
  param,
  post,
  refuse,
} from "usher-http";
import type { RefusalRead } from "usher-http/client";

const orderId = Path.int("order_id");
const Order = v.object({ id: v.number(), item: v.string(), placed_at: Shape.instant });
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });
const clerk = Dep.join(
  { token: Header.optional("authorization", Codec.string) },
  ({ token }) => token ?? refuse(signedOut),
  { refuses: [signedOut] },
);

const getOrder = get(
  Path.of("orders", orderId),
  { inputs: { id: param(orderId) }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  () => refuse(Refusal.notFound),
);
const importLines = post(
  Path.of("lines"),
  {
    inputs: { lines: jsonLines(v.object({ at: Shape.instant }), { max: 1000 }) },
    returns: Returns.jsonLines(v.object({ item: v.string() })),
  },
  async function* ({ lines }) {
    lines satisfies AsyncIterable<{ at: Date }>;
    yield { item: "a" };
  },
);
get(
  Path.of("lines"),
  { returns: Returns.jsonLines(v.object({ item: v.string() })) },
  // @ts-expect-error Each value is of the shape.
  async function* () {
    yield { item: 1 };
  },
);
const placeOrder = post(
  Path.of("orders"),
  {
    inputs: { clerk, order: json(v.object({ item: v.string(), due: v.optional(Shape.date) })) },
    returns: Returns.jsonResponse(Order, { 200: "It was placed before.", 201: "It is placed." }),
    refuses: [soldOut],
  },
  () => refuse(soldOut),
);
const search = get(
  Path.of("search"),
  {
    inputs: {
      since: Query.optional("since", Codec.instant),
      day: Query.optional("day", Codec.date),
      sizes: Query.list("size", Codec.enum("size", ["small", "large"])),
      level: Query.required(
        "level",
        Codec.enum("level", [1, 2], (level) => `level-${level}`),
      ),
    },
    returns: Returns.text,
  },
  () => "",
);
const note = post(
  Path.of("notes"),
  {
    inputs: {
      title: Form.required("title", Codec.string),
      loud: Form.checked("loud"),
      file: Form.File.optional("file"),
    },
    returns: Returns.emptyResponse({ 201: "Made.", 204: "Kept." }),
  },
  () => answer(204),
);
const image = post(
  Path.of("images"),
  { inputs: { image: bodyStream({ max: 1 << 20, contentTypes: ["image/*"] }) }, returns: Returns.empty() },
  () => {},
);
const feed = get(
  Path.of("feed"),
  {
    inputs: { last: Header.optional("last-event-id", Codec.int) },
    returns: Returns.events([Event.json("placed", Order), Event.text("closed")]),
  },
  () => () => {},
);
const chat = get(
  Path.of("chat"),
  { returns: Returns.websocket(Socket.protocol({ client: Socket.text, server: Socket.text })) },
  () => async () => {},
);
const own = get(Path.of("own"), { returns: Returns.response }, () => new Response());

const routes = [getOrder, placeOrder, importLines, search, note, image, feed, chat, own, ...Health.routes([])] as const;
const api = Client.of<typeof routes>({ baseUrl: "https://orders.example" });

export async function called(): Promise<unknown> {
  const found = await api["GET /orders/{order_id}"]({ path: { order_id: 7 }, signal: AbortSignal.timeout(1000) });
  if (found.ok) {
    const status: 200 = found.status;
    // As JSON has it, and not as the server holds it.
    const placedAt: string = found.value.placed_at;
    return [status, placedAt];
  }
  switch (found.error) {
    case "not_found":
    case "unreachable": {
      const none: readonly [] = found.problems;
      return none;
    }
    case "invalid":
      return found.problems[0]?.at.startsWith("path");
    case "busy":
    case "internal":
    case "unreadable":
    case "too_large":
    case "cross_origin":
    case "unsupported_media_type":
    case "timed_out":
    case "outcome_unknown":
      return found.message;
    default: {
      const nothing: never = found;
      return nothing;
    }
  }
}

export async function wholeResponse(): Promise<string | undefined> {
  const whole = await api["GET /orders/{order_id}"].response({ path: { order_id: 7 } });
  // @ts-expect-error no path
  await api["GET /orders/{order_id}"].response();
  // @ts-expect-error a WebSocket's route has no response
  void api["GET /chat"].response;
  if (whole.ok) {
    // @ts-expect-error it is not read
    void whole.value.placed_at;
    return whole.value.text();
  }
  whole.error satisfies "not_found" | Client.ClientCode | "invalid";
  return undefined;
}

export async function sent(): Promise<void> {
  const placed = await api["POST /orders"]({
    headers: { authorization: "Bearer t" },
    json: { item: "pen", due: "2026-09-30" },
  });
  if (placed.ok) {
    const status: 200 | 201 = placed.status;
    void status;
  } else {
    const signedOut = placed.error === "signed_out";
    const soldOut = placed.error === "sold_out";
    // @ts-expect-error a code this route never answers
    const notFound = placed.error === "not_found";
    void [signedOut, soldOut, notFound];
  }
  await api["GET /search"]({ query: { level: "level-1", since: new Date(), day: "2026-09-30", size: ["small"] } });
  // @ts-expect-error a word that is none of them
  await api["GET /search"]({ query: { level: "level-1", size: ["huge"] } });
  // @ts-expect-error without what is required
  await api["GET /search"]({ query: { day: "2026-09-30" } });
  // @ts-expect-error a value of which only its codec has the text
  await api["GET /search"]({ query: { level: 1 } });
  const noted = await api["POST /notes"]({ form: { title: "one", loud: true, file: new Blob() } });
  if (noted.ok) {
    const status: 201 | 204 = noted.status;
    const nothing: undefined = noted.value;
    void [status, nothing];
  }
  // @ts-expect-error a box that is not checked is not sent
  await api["POST /notes"]({ form: { title: "one", loud: false } });
  await api["POST /images"]({ body: new Uint8Array(), headers: { "content-type": "image/png" } });
  const lines = await api["POST /lines"]({ lines: [{ at: "2026-01-01T00:00:00Z" }] });
  if (lines.ok) for await (const { item } of lines.value) item satisfies string;
  // @ts-expect-error Each line is of the shape.
  await api["POST /lines"]({ lines: [{ at: 1 }] });
  // @ts-expect-error They are required.
  await api["POST /lines"]({});
  // @ts-expect-error no body
  await api["POST /orders"]({ headers: {} });
  // @ts-expect-error a number in place of a text
  await api["POST /orders"]({ json: { item: 1 } });
  // @ts-expect-error no such route
  await api["GET /nope"]();
  const answered = await api["GET /own"]();
  if (answered.ok) {
    const value: unknown = answered.value;
    // @ts-expect-error the type of a response of the route's own is unknown
    const response: Response = answered.value;
    void [value, response];
  }
}

export async function followed(): Promise<void> {
  const stream = await api["GET /feed"]();
  if (!stream.ok) return;
  for await (const event of stream.value) {
    const id: string | undefined = event.id;
    if (event.name === "placed") {
      const placedAt: string = event.value.placed_at;
      void [id, placedAt];
    } else {
      const text: string = event.value;
      void text;
    }
  }
}

const made = [
  ...Health.routes([]),
  ...Health.routes([], { ready: Path.of("health", "ready") }),
  ...Metrics.routes(),
  ...Metrics.routes({ at: Path.of("figures") }),
  ...Openapi.docs([]),
  ...Openapi.docs([], { document: Path.of("api", "v1"), at: Path.root }),
] as const;

/** Routes that the package makes are known by their names, too. */
export async function probed(): Promise<void> {
  const probes = Client.of<typeof made>({ baseUrl: "" });
  const live = await probes["GET /livez"]();
  if (live.ok) {
    const text: string = live.value;
    void text;
  }
  const ready = await probes["GET /readyz"]();
  if (!ready.ok && ready.error === "not_ready") void ready.message;
  // @ts-expect-error it is alive or it is not
  if (!live.ok && live.error === "not_ready") void live.message;
  await probes["GET /health/ready"]();
  await probes["GET /metrics"]();
  await probes["GET /figures"]();
  await probes["GET /openapi.json"]({ headers: { "if-none-match": '"a"' } });
  await probes["GET /docs"]();
  await probes["GET /docs/reader.js"]();
  await probes["GET /docs/start.js"]();
  await probes["GET /api/v1"]();
  await probes["GET /"]();
  await probes["GET /start.js"]();
  // @ts-expect-error no such route
  await probes["GET //start.js"]();
}

const sku = Codec.custom<{ sku: string }>({
  kind: "sku",
  parse: (text) => Result.ok({ sku: text }),
  print: ({ sku }) => sku,
});
const skuParam = Path.param("sku", sku);
const noteParam = Path.str("note");
const file = Path.rest("file");
const unread = get(Path.of("unread", orderId, skuParam, file), { returns: Returns.text }, () => "");
const halfRead = get(
  Path.of("half", orderId, noteParam),
  { inputs: { note: param(noteParam) }, returns: Returns.text },
  ({ note }) => note,
);

/** A parameter that the handler does not read is still a part of the path. */
export async function located(): Promise<void> {
  const paths = Client.of<readonly [typeof unread, typeof halfRead]>({ baseUrl: "" });
  await paths["GET /unread/{order_id}/{sku}/{file*}"]({ path: { order_id: 7, sku: "PEN", file: ["a", "b"] } });
  await paths["GET /half/{order_id}/{note}"]({ path: { order_id: 7, note: "new" } });
  // @ts-expect-error no path
  await paths["GET /unread/{order_id}/{sku}/{file*}"]();
  // @ts-expect-error an argument that no input reads is missing
  await paths["GET /half/{order_id}/{note}"]({ path: { note: "new" } });
  // @ts-expect-error an argument of another type that no input reads
  await paths["GET /half/{order_id}/{note}"]({ path: { order_id: "7", note: "new" } });
  // @ts-expect-error a value of which only its codec has the text
  await paths["GET /unread/{order_id}/{sku}/{file*}"]({ path: { order_id: 7, sku: { sku: "PEN" }, file: [] } });
}

const other = Path.str("order_id");
const missing = Path.int("missing");
// @ts-expect-error the path has a parameter of that name and another type
get(Path.of("orders", orderId), { inputs: { id: param(other) }, returns: Returns.text }, ({ id }) => id);
// @ts-expect-error the path has no such parameter
get(Path.of("orders", orderId), { inputs: { id: param(missing) }, returns: Returns.text }, ({ id }) => `${id}`);
const twice = Dep.map(param(other), (id) => id + id);
// @ts-expect-error a parameter of another type that an input of an input reads
get(Path.of("orders", orderId), { inputs: { twice }, returns: Returns.text }, ({ twice }) => twice);
/** A path that is known only to the running program. */
export const anywhere = (path: Path) => get(path, { inputs: { id: param(orderId) }, returns: Returns.text }, () => "");

// A list that is no constant is one of a union: its routes are all there.
const list = [getOrder, placeOrder];
const calls: Client<typeof list> = Client.of<typeof list>({ baseUrl: "", headers: { "x-client": "desk" } });
void calls["GET /orders/{order_id}"]({ path: { order_id: 7 } });
// @ts-expect-error no path
void calls["GET /orders/{order_id}"]();

type Same<A, B> = [A, B] extends [B, A] ? (0 extends 1 & A ? false : true) : false;
const same = <A, B>(_is: Same<A, B>): void => {};

const kept = get(
  Path.of("kept"),
  {
    inputs: {
      size: Header.required("x-size", Codec.int64),
      since: Header.optional("x-since", Codec.instant),
      half: Header.default("x-half", Codec.bool, false),
      codes: Header.list("x-codes", Codec.int),
      tag: Header.optional("if-none-match", Codec.entityTags),
      word: Header.optional("x-word", v.picklist(["a", "b"])),
      after: Query.optional("after", Codec.int),
      ids: Query.list("id", Codec.int64),
      filter: Query.object("filter", v.object({ min: v.optional(v.number()) })),
    },
    returns: Returns.text,
  },
  () => "",
);
const upload = post(
  Path.of("upload"),
  { inputs: { loud: Form.checked("loud"), file: Form.File.optional("file") }, returns: Returns.empty() },
  () => {},
);

/** A header takes the value of its codec, and what is optional takes `undefined`. */
export async function headed(signal: AbortSignal | undefined): Promise<void> {
  const api = Client.of<readonly [typeof kept, typeof upload]>({ baseUrl: "" });
  const headers = {
    "x-size": 2n ** 60n,
    "x-since": new Date(),
    "x-half": true,
    "x-codes": [1, 2],
    "x-word": "a",
  } as const;
  await api["GET /kept"]({ headers: { ...headers, "if-none-match": '"a"' }, signal });
  await api["GET /kept"]({
    headers: { "x-size": 1n, "x-since": undefined, "x-half": undefined, "x-codes": undefined, "x-word": undefined },
    query: { after: undefined, id: undefined, filter: undefined },
  });
  await api["POST /upload"]({ form: { loud: undefined, file: undefined } });
  // @ts-expect-error its value, and not its text
  await api["GET /kept"]({ headers: { "x-size": "1" } });
  // @ts-expect-error what is required takes no undefined
  await api["GET /kept"]({ headers: { "x-size": undefined } });
  // @ts-expect-error a word that is none of them
  await api["GET /kept"]({ headers: { "x-size": 1n, "x-word": "c" } });
  // @ts-expect-error a list of another type
  await api["GET /kept"]({ headers: { "x-size": 1n, "x-codes": ["1"] } });
}

const of = (...contentTypes: readonly string[]) => ({ doc: "", contentTypes });
const pdf = get(
  Path.of("pdf"),
  { returns: Returns.responses({ 200: { doc: "", contentTypes: ["application/pdf"] }, 404: "" }) },
  () => new Response(),
);
const csv = get(
  Path.of("csv"),
  {
    returns: Returns.responses({
      200: { doc: "", contentTypes: ["text/csv"] },
      202: { doc: "", contentTypes: ["TEXT/plain"] },
    }),
  },
  () => new Response(),
);
const picture = get(
  Path.of("image"),
  { returns: Returns.responses({ 200: { doc: "", contentTypes: ["image/*"] }, 204: "None.", 304: "The same." }) },
  () => new Response(),
);
const either = get(
  Path.of("either"),
  {
    returns: Returns.responses({
      200: { doc: "", contentTypes: ["text/html", "application/zip", "application/x-ndjson"] },
    }),
  },
  () => new Response(),
);
const data = get(
  Path.of("data"),
  { returns: Returns.responses({ 200: { doc: "", contentTypes: ["application/problem+json"] } }) },
  () => new Response(),
);
const stream = get(
  Path.of("stream"),
  { returns: Returns.responses({ 200: { doc: "", contentTypes: ["text/event-stream"] } }) },
  () => new Response(),
);
const moved = get(
  Path.of("moved"),
  { returns: Returns.responses({ 200: { doc: "", contentTypes: ["text/css"] }, 303: "Elsewhere." }) },
  () => new Response(),
);
const bare = get(Path.of("bare"), { returns: Returns.responses({ 200: "Here." }) }, () => new Response());
const failing = get(Path.of("failing"), { returns: Returns.responses({ 404: "None." }) }, () => new Response());
const loose = get(Path.of("loose"), { returns: Returns.responses({ 200: of("text/css") }) }, () => new Response());

/** The value of a response is that of its content types. */
export async function downloaded(): Promise<void> {
  const downloads = [pdf, csv, picture, either, data, stream, moved, bare, failing, loose] as const;
  const api = Client.of<typeof downloads>({ baseUrl: "" });
  const one = await api["GET /pdf"]();
  if (one.ok) same<[typeof one.status, typeof one.value], [200, Response]>(true);
  const two = await api["GET /csv"]();
  if (two.ok) same<[typeof two.status, typeof two.value], [200 | 202, string]>(true);
  const three = await api["GET /image"]();
  if (three.ok) same<[typeof three.status, typeof three.value], [200 | 204, Response | undefined]>(true);
  const four = await api["GET /either"]();
  if (four.ok) same<typeof four.value, string | Response | AsyncIterable<unknown>>(true);
  const five = await api["GET /data"]();
  if (five.ok) same<typeof five.value, unknown>(true);
  const six = await api["GET /stream"]();
  if (six.ok) for await (const { name } of six.value) same<typeof name, string>(true);
  const seven = await api["GET /moved"]();
  if (seven.ok) same<[typeof seven.status, typeof seven.value], [number, unknown]>(true);
  const eight = await api["GET /bare"]();
  if (eight.ok) same<[typeof eight.status, typeof eight.value], [200, unknown]>(true);
  const nine = await api["GET /failing"]();
  if (nine.ok) same<[typeof nine.status, typeof nine.value], [number, unknown]>(true);
  const ten = await api["GET /loose"]();
  if (ten.ok) same<typeof ten.value, unknown>(true);
}

const Note = v.object({ title: v.string(), loud: v.optional(v.boolean()) });
/** A change of a partial schema has no `undefined`. */
export const changed = post(
  Path.of("changed"),
  { inputs: { change: json(v.partial(Note)), any: Query.optional("any", Codec.string) }, returns: Returns.json(Note) },
  ({ change }) => {
    const note: { title: string; loud: boolean } = { title: "", loud: false };
    const next: typeof note = { ...note, ...change };
    // @ts-expect-error a member may be missing
    change satisfies { title: string };
    return next;
  },
);
/** Of an object in it the types say so where its members are exact. */
const Part = v.object({ street: v.exactOptional(v.string()), city: v.exactOptional(v.string()) });
export const changedInside = post(
  Path.of("changed-inside"),
  {
    inputs: {
      change: json(v.object({ name: v.exactOptional(v.string()), address: v.exactOptional(Part) })),
      loose: json(v.object({ address: v.partial(v.object({ city: v.string() })) })),
    },
    returns: Returns.empty(),
  },
  ({ change, loose }) => {
    const address: { street: string; city: string } = { street: "", city: "", ...change.address };
    ({ name: "", ...change, address }) satisfies { name: string; address: typeof address };
    // @ts-expect-error a member of an object in it may be undefined, as Valibot types it
    ({ street: "", city: "", ...loose.address }) satisfies typeof address;
  },
);
/** In a helper of any shape it is the shape's value. */
export const saving = <S extends Shape>(shape: S, save: (value: Shape.ValueOf<S>) => void) =>
  post(Path.of("saving"), { inputs: { value: json(shape) }, returns: Returns.empty() }, ({ value }) => save(value));
export const anything = post(
  Path.of("anything"),
  { inputs: { value: json(v.unknown()) }, returns: Returns.empty() },
  ({ value }) => same<typeof value, unknown>(true),
);

const Spoken = v.object({ at: Shape.instant, text: v.string() });
const spoken = Socket.protocol({ client: Socket.json(v.string()), server: Socket.json(Spoken) });
const half = Socket.protocol({ client: Socket.text, server: Socket.json(Spoken), subprotocol: ["v2", "v1"] });
const maybe = Socket.protocol({ client: Socket.binary, server: Socket.text, subprotocol: ["v1", undefined] });
const sockets = [
  chat,
  get(Path.of("rooms", orderId), { returns: Returns.websocket(spoken) }, () => async () => {}),
  get(
    Path.of("half"),
    { inputs: { tag: Query.required("tag", Codec.string) }, returns: Returns.websocket(half) },
    () => async () => {},
  ),
  get(Path.of("maybe"), { returns: Returns.websocket(maybe) }, () => async () => {}),
] as const;

/** A WebSocket of the typed client has the types of its route's protocol, as they are on the wire. */
export async function opened(signal: AbortSignal): Promise<void> {
  const api = Client.of<typeof sockets>({ baseUrl: "" });
  const rooms = await api["GET /rooms/{order_id}"].open({ path: { order_id: 7 }, signal });
  if (rooms.ok) {
    rooms.value.send("hello");
    // @ts-expect-error another type
    rooms.value.send(7);
    for await (const one of rooms.value) same<typeof one, { at: string; text: string }>(true);
    same<Awaited<typeof rooms.value.closed>["code"], number>(true);
  } else same<typeof rooms.error, "unreachable">(true);
  const words = await api["GET /chat"].open({ text: "both" });
  if (words.ok) for await (const one of words.value) same<typeof one, string>(true);
  const halves = await api["GET /half"].open({ query: { tag: "a" }, text: "sent", subprotocol: ["v2", "bearer.t"] });
  if (halves.ok) same<typeof halves.value.subprotocol, "v1" | "v2">(true);
  const bytes = await api["GET /maybe"].open({ text: "received", subprotocol: undefined });
  if (bytes.ok) {
    same<typeof bytes.value.subprotocol, "v1" | undefined>(true);
    bytes.value.send(new Uint8Array());
    // @ts-expect-error text, where the route takes bytes
    bytes.value.send("");
  }
  // @ts-expect-error which messages are text must be given
  await api["GET /chat"].open();
  // @ts-expect-error those that it gets are JSON
  await api["GET /half"].open({ query: { tag: "a" }, text: "both", subprotocol: "v1" });
  // @ts-expect-error none is text
  await api["GET /rooms/{order_id}"].open({ path: { order_id: 7 }, text: "both" });
  // @ts-expect-error no path
  await api["GET /rooms/{order_id}"].open();
  // @ts-expect-error the route needs a subprotocol
  await api["GET /half"].open({ query: { tag: "a" }, text: "sent" });
  // @ts-expect-error one that the route does not speak
  await api["GET /half"].open({ query: { tag: "a" }, text: "sent", subprotocol: "v3" });
  // @ts-expect-error it is opened, and not called
  await api["GET /chat"]();
  // @ts-expect-error a call is not opened
  await Client.of<readonly [typeof own]>({ baseUrl: "" })["GET /own"].open();
}

interface Maybe {
  readonly fetch: ((request: Request) => Promise<Response>) | undefined;
  readonly headers: { readonly [name: string]: string } | undefined;
  readonly number: number | undefined;
  readonly text: string | undefined;
  readonly readRefusal: (() => RefusalRead | undefined) | undefined;
  readonly webSocket: ((url: string) => WebSocket) | undefined;
  readonly date: Date | undefined;
  readonly gone: AbortSignal | undefined;
}

/** What an option is made of may be missing: the option then is as one that is left out. */
export async function optioned({ fetch, headers, number, text, readRefusal, webSocket, date, gone }: Maybe) {
  const limits = { maxBody: number, maxLine: number, maxEvent: number, minReconnectMs: number };
  const sockets = { webSocket, maxSocketBuffer: number, openTimeoutMs: number };
  const api = Client.of<typeof routes>({ baseUrl: "", fetch, headers, readRefusal, ...limits, ...sockets });
  const read: RefusalRead = { error: "busy", message: "Busy.", problems: undefined, more: number };
  const client = HttpClient.make({ baseUrl: text, timeoutMs: number, maxBody: number, headers });
  await client.fetch("/", { timeoutMs: number });
  const app = Test.app([]);
  const call = { headers, peer: text, now: date };
  const options = { ...call, body: undefined, peerCertificate: undefined, gone };
  await Test.call(app, "GET", "/", options);
  const agent = Test.mcp(app, { ...call, path: text });
  return { api, read, agent };
}
