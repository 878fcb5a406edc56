import { createServer } from "node:http";
import { NodeHttpServer } from "@effect/platform-node";
import { Effect, Layer, ManagedRuntime, Schema } from "effect";
import { HttpRouter } from "effect/http";
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api";

const whole = Schema.NumberFromString.check(Schema.isInt());
const Id = Schema.Struct({ id: Schema.String });
const Item = Schema.Struct({
  title: Schema.String.check(Schema.isMinLength(1)),
  count: Schema.Number.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(1)),
});
const api = HttpApi.make("peers").add(
  HttpApiGroup.make("all").add(
    HttpApiEndpoint.post("place", "/u/:id", {
      params: { id: whole },
      query: { page: whole, limit: whole, sort: Schema.Literals(["up", "down"]) },
      payload: Item,
      success: Id,
    }),
    HttpApiEndpoint.get("find", "/u/:id", { params: { id: whole }, success: Id }),
    HttpApiEndpoint.get("text", "/t/:text", { params: { text: Schema.String }, success: Id }),
    HttpApiEndpoint.get("me", "/t/me", { success: Id }),
    HttpApiEndpoint.get("raises", "/raises", { success: Id }),
  ),
);
const handlers = HttpApiBuilder.group(api, "all", (handlers) =>
  handlers.handleAll({
    place: ({ params }) => Effect.succeed({ id: String(params.id) }),
    find: ({ params }) => Effect.succeed({ id: String(params.id) }),
    text: ({ params }) => Effect.succeed({ id: params.text }),
    me: () => Effect.succeed({ id: "the literal" }),
    raises: () => Effect.die(new Error("db password is hunter2")),
  }),
);

/** @returns {Promise<number>} */
export async function start() {
  const server = createServer();
  const served = HttpRouter.serve(HttpApiBuilder.layer(api).pipe(Layer.provide(handlers)), {
    disableLogger: true,
  }).pipe(Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })));
  await ManagedRuntime.make(served).runPromise(Effect.void);
  return server.address().port;
}
