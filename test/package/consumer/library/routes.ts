// What a library of routes exports of routes, answers, streams and the app: each type is inferred.
import {
  Answer,
  App,
  Broadcast,
  Client,
  Codec,
  Cors,
  Dep,
  Event,
  Header,
  Health,
  HttpClient,
  Log,
  Meta,
  Metrics,
  Openapi,
  Path,
  Query,
  Refusal,
  Result,
  Returns,
  Route,
  SecureHeaders,
  Socket,
  Test,
  Trace,
  answer,
  clientGone,
  del,
  get,
  param,
  patch,
  post,
  put,
  refuse,
  route,
} from "usher-http";
import type { Middleware } from "usher-http";
import {
  bearer,
  form,
  id,
  itemName,
  newOrder,
  order,
  Order,
  orderId,
  orders,
  page,
  rest,
  slowly,
  soldOut,
  upload,
} from "./inputs.js";

const placed = { id: 1, item: "pen", key: "", total: 1n, placed_at: new Date(0), state: "new" } as const;

export const getOrder = get(
  order,
  { inputs: { id, page }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  ({ id, page }) => (id > page ? refuse(Refusal.notFound) : { ...placed, id }),
);
export const placeOrder = post(
  orders,
  {
    inputs: { bearer, slowly, order: newOrder },
    returns: Returns.jsonResponse(Order, { 200: "It was placed before.", 201: "It is placed." }),
    refuses: [soldOut],
  },
  ({ order }) => (order.item === "pen" ? refuse(soldOut) : answer(201, { ...placed })),
);
export const dropOrder = del(order, { inputs: { id: param(orderId) }, returns: Returns.empty() }, () => {});
export const moveOrder = put(
  order,
  { inputs: { id: param(orderId) }, returns: Returns.emptyResponse({ 201: "Made.", 204: "Kept." }) },
  ({ id }) => answer(id > 1 ? 201 : 204),
);
export const noteOrder = patch(Path.of("notes"), { inputs: form, returns: Returns.text }, ({ title }) => title);
export const homePage = get(Path.root, { returns: Returns.html }, () => "<p>Hello");
export const readFile = get(
  Path.of("files", rest),
  { inputs: { rest: param(rest) }, returns: Returns.response },
  ({ rest }) => Answer.redirect(`/${rest.join("/")}`),
);
export const signIn = post(Path.of("sign-in"), { returns: Returns.responses({ 303: "Signed in." }) }, () =>
  Answer.redirect("/"),
);
export const sendPicture = post(Path.of("pictures"), { inputs: { upload }, returns: Returns.empty() }, () => {});
export const listWays = route("REPORT", orders, { returns: Returns.text }, () => "");
export const picky = get(
  Path.of("picky"),
  { inputs: { accept: Header.optional("accept", Codec.accept), q: Query.list("q", Codec.int) }, returns: Returns.text },
  () => "",
);

export const Placed = Event.json("placed", Order);
export const Closed = Event.text("closed");
export const closed = Event.make(Closed, "now", { id: "1" });
export const retry = Event.retry({ ms: 1000 });
export const comment = Event.comment("quiet");
export const hub = Broadcast.create<typeof Placed | typeof Closed, string>({ depth: 16 });
export const subscription = () => hub.subscribe("orders", "tag");
export const feed = get(
  Path.of("feed"),
  {
    inputs: { clientGone, since: Header.optional("last-event-id", Codec.int) },
    returns: Returns.events([Placed, Closed]),
  },
  () => async (send) => void (await send(Event.make(Closed, "now"))),
);
export const Line = Socket.json(Order);
export const chatProtocol = Socket.protocol({ client: Socket.text, server: Line });
export const blobs = Socket.protocol({ client: Socket.binary, server: Socket.binary, subprotocol: "blobs" });
export const encoded = Socket.encode(Socket.text, "hello");
export const chat = get(Path.of("chat"), { returns: Returns.websocket(chatProtocol) }, () => async (socket) => {
  for await (const item of socket) await socket.send({ ...placed, item });
});
export const returned = {
  empty: Returns.empty({ status: 202 }),
  events: Returns.events([Closed]),
  html: Returns.html,
  json: Returns.json(Order, { status: 201 }),
  response: Returns.response,
  text: Returns.text,
  websocket: Returns.websocket(blobs),
};
export const answered = {
  answer: answer(201, "made"),
  empty: Answer.empty(),
  html: Answer.html("<p>"),
  json: Answer.json(Order, { ...placed }),
  redirect: Answer.redirect("/"),
  refusal: Answer.refusal(refuse(soldOut)),
};

export const quietly = Meta.empty.add(Meta.access, "debug");
export const owner = Meta.key<string>("owner");
export const check = Health.check("stock", () => Result.ok());
export const probes = Health.routes([check]);
export const readiness = Health.routes([check], { ready: Path.of("ready") });
export const metrics = Metrics.routes();
export const guardedMetrics = Metrics.routes({ guard: bearer, at: Path.of("figures") });

export const shops = Route.group({
  prefix: Path.of("shops", itemName),
  inputs: { shop: param(itemName), page },
  refuses: [soldOut],
});
export const desks = shops.group({ prefix: Path.of("desks"), tags: ["Desks"] });
export const readDesk = desks.get(
  Path.of(orderId),
  { inputs: { order: param(orderId) }, returns: Returns.text },
  ({ shop, order }) => (shop === String(order) ? "" : refuse(soldOut)),
);
export const searchDesks = desks.route("SEARCH", Path.root, { returns: Returns.json(Order) }, () => refuse(soldOut));
export const underShop = shops.group({ prefix: Path.of("all") }, [readDesk, searchDesks]);
export const shopOrder = Path.join(Path.of("shops", itemName), order);

export const routes = [
  getOrder,
  placeOrder,
  dropOrder,
  moveOrder,
  noteOrder,
  homePage,
  readFile,
  signIn,
  sendPicture,
  picky,
  feed,
  chat,
  ...probes,
  ...metrics,
] as const;
export const docs = Openapi.docs(routes, { title: "Orders" });
export const described = Openapi.document(routes);
export const report = Openapi.report(routes);

export const cors = Cors.make({ origins: ["https://app.example"] });
export const secure = SecureHeaders.make();
export const timed: Middleware = async (_request, next) => next();
export const app = App.make(routes, { cors });
export const testApp = Test.app(routes);
export const testBrowser = Test.browser(testApp);
export const tested = () => Test.call(testApp, "GET", "/orders/1");
export const heard = () => Test.events(testApp, "/feed", () => "stop");
export const talked = () => Test.websocket(testApp, chatProtocol, "/chat", async (socket) => socket.send("hi"));

export const log = Log.source("orders");
export const tagged = Log.tags({ order: 1 }, () => 1);
export const carried = Log.carry((n: number) => n);
export const spanned = () => Trace.span("place", (span) => span);
export const exporter = () => Trace.otlp({ endpoint: "http://localhost:4318", service: "orders" });
export const http = HttpClient.make({ baseUrl: "https://orders.example" });
export const fetched = () => http.fetch("/orders");
export const api = Client.of<typeof routes>({ baseUrl: "https://orders.example" });
export const found = () => api["GET /orders/{order_id}"]({ path: { order_id: 1 } });
export const listened = () => api["GET /feed"]();
export const refusedBy = async () => {
  const outcome = await found();
  return outcome.ok ? [] : [outcome, outcome.error];
};
export const parts = {
  segments: getOrder.path.segments,
  meta: getOrder.meta,
  codes: getOrder.refuses,
  app: app.routes,
};
export const guard = Dep.all({ bearer });
