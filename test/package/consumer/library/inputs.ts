// What a library of routes exports of inputs: each type is inferred, so the compiler must be able to name it in a declaration.
import {
  Body,
  Codec,
  Cookie,
  Dep,
  Form,
  Header,
  Idempotency,
  Keys,
  Password,
  Path,
  Query,
  Rate,
  Refusal,
  Result,
  Sessions,
  Shape,
  Webhook,
  addHeader,
  body,
  bodyStream,
  client,
  after,
  clientGone,
  json,
  multipart,
  now,
  param,
  peer,
  peerCertificate,
  refuse,
  request,
  requestId,
  setCookie,
} from "usher-http";
import * as v from "valibot";

export const orderId = Path.int("order_id");
export const bigId = Path.int64("big_id", { unparsed: "next-route" });
export const itemName = Path.str("item_name");
export const rest = Path.rest("rest");
export const root = Path.root;
export const orders = Path.of("orders");
export const order = Path.of("orders", orderId);
export const files = Path.of("files", itemName, rest);
export const orderUrl = Path.url(order, { order_id: 1 });

export const sku = Codec.custom({
  kind: "sku",
  parse: (text) => (/^[A-Z]+$/.test(text) ? Result.ok({ sku: text }) : Result.error("This is not a SKU.")),
  print: ({ sku }) => sku,
});
export const colour = Codec.enum("colour", ["blue", "gold"]);
export const level = Codec.enum("level", [1, 2], (level) => `level-${level}`);
export const codecs = [
  Codec.accept,
  Codec.bool,
  Codec.cacheControl,
  Codec.credentials,
  Codec.date,
  Codec.float,
  Codec.forwarded,
  Codec.instant,
  Codec.int,
  Codec.int64,
  Codec.mediaType,
  Codec.string,
  Codec.structuredDictionary,
  Codec.structuredItem,
  Codec.structuredList,
  Codec.uuid,
  Codec.weighted,
] as const;
export const skuParam = Path.param("sku", sku);
export const bearerOf = (text: string) => Codec.bearerToken(readCredentials(text));
export const loginOf = (text: string) => Codec.basicLogin(readCredentials(text));
export const readCredentials = (text: string) => {
  const read = Codec.credentials.parse(text);
  return read.ok ? read.value : undefined;
};

export const Order = Shape.named(
  "Order",
  v.object({
    id: v.pipe(v.number(), v.integer()),
    item: v.string(),
    state: v.picklist(["new", "sent"]),
    placed_at: Shape.instant,
    due: v.optional(Shape.date),
    key: Shape.uuid,
    total: Shape.int64,
  }),
);
export const NewOrder = v.object({ item: v.string(), due: v.optional(Shape.date) });
export const shapes = [Shape.date, Shape.instant, Shape.int64, Shape.uuid] as const;

export const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
export const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody.", challenge: "Bearer" });
export const builtInCodes = [
  Refusal.busy,
  Refusal.crossOrigin,
  Refusal.internal,
  Refusal.invalid,
  Refusal.notFound,
  Refusal.notReady,
  Refusal.rateLimited,
  Refusal.tooLarge,
  Refusal.unreadable,
  Refusal.unsupportedMediaType,
  Refusal.upgradeRequired,
] as const;
export const none = () => refuse(soldOut, "There is none left.");
export const outcomeOf = (found: boolean) => (found ? Result.ok(1) : Result.error("none"));

export const id = param(orderId);
export const path = { id, rest: param(rest), big: param(bigId), sku: param(skuParam) };
export const page = Query.default("page", Codec.int, 1);
export const query = {
  page,
  name: Query.required("name", Codec.string),
  since: Query.optional("since", Codec.instant),
  colours: Query.list("colour", colour),
};
export const headers = {
  tag: Header.required("x-tag", Codec.string),
  accept: Header.optional("accept", Codec.accept),
  depth: Header.default("depth", Codec.int, 1),
};
export const form = {
  title: Form.required("title", Codec.string),
  note: Form.optional("note", Codec.string),
  tags: Form.list("tag", Codec.string),
  loud: Form.checked("loud"),
  picture: Form.File.required("picture"),
  copy: Form.File.optional("copy"),
  more: Form.File.list("more"),
};
export const lastOrder = Cookie.named("last_order", Codec.int);
export const lastSeen = Cookie.required(lastOrder);
export const keys = Keys.ring("a".repeat(32));
export const signedCookie = Cookie.signed(keys, "signed", Codec.string);
export const encryptedCookie = Cookie.encrypted(keys, "encrypted", Codec.int, { maxAgeMs: 1000 });
export const seen = Cookie.optional(encryptedCookie);
export const written = Cookie.make(lastOrder, 1);
export const cleared = Cookie.clear(lastOrder);
export const sealed = Keys.seal(keys, "purpose", "text");

export const newOrder = json(NewOrder);
export const checkedOrder = json(NewOrder, { refusal: [soldOut, "No."] });
export const bytes = body;
export const upload = bodyStream({ max: 1 << 20 });
export const parts = multipart({ max: 1 << 20 });
export const csv = Dep.ofBody({ contentTypes: ["text/csv"] }, (body) => new TextDecoder().decode(body).split(","));
export const bodyRefused = () => Body.refusal({ kind: "unreadable", detail: "cut short" });

export const facts = {
  addHeader,
  after,
  client,
  clientGone,
  now,
  peer,
  peerCertificate,
  request,
  requestId,
  setCookie,
};
export const store = Dep.ofResource<Map<number, string>>("store");
export const scoped = Dep.scoped(
  { store },
  ({ store }) => ({ size: store.size }),
  (_value, end) => end.how,
);
export const supplied = Dep.resource(store, new Map<number, string>());
export const bearer = Dep.credential(
  "bearer",
  Dep.join({ token: Header.optional("authorization", Codec.string) }, ({ token }) => token ?? refuse(signedOut), {
    refuses: [signedOut],
  }),
);
export const all = Dep.all({ page, bearer });
export const doubled = Dep.map(page, (page) => page * 2);
export const chosen = Dep.bind(page, (page) => (page > 1 ? Dep.return("many") : Dep.return("one")));
export const always = Dep.return({ a: 1 });
export const never = Dep.refuse(refuse(soldOut));
export const fresh = Dep.uncached(now);
export const host = Dep.ofRequest((request) => request.host, { needs: [{ in: "header", name: "host" }] });
export const tooSmall = Dep.problem({ at: "query.page", code: "too_small", message: "This must be at least 1." });
export const tooSmallToo = () => Dep.problems([tooSmall]);

export const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ clerk: v.string() }),
  idleMs: 1000,
  absoluteMs: 1000,
});
export const sessionStore = Sessions.memory();
export const session = sessions.required;
export const started = async () => sessions.find("id", new Date());
export const rate = Rate.make({ limit: 5, perMs: 1000 });
export const rateMemory = Rate.memory();
export const webhook = Webhook.verify(v.object({ id: v.string() }), {
  scheme: "github",
  secrets: ["a secret of the library's own"],
});
export const answers = Idempotency.memory();
export const once = Idempotency.by(answers, { caller: client });
export const onceAlways = Idempotency.by(answers, { caller: client, required: true });
export const passwords = Password.make({ cost: { log2N: 15, r: 8, p: 3 } });
export const ofArgon2 = () =>
  Password.make({ algorithm: "argon2id", cost: { memoryKiB: 19_456, passes: 2, parallelism: 1 } });
export const checked = (stored: string | undefined) => Password.verify(stored, "secret");
export const slowly = Rate.limit(rate, { key: client });
export const { basicLogin, bearerToken } = Codec;
export const login = Codec.basicLogin;
