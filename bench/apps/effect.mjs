import { NodeHttpServer } from "@effect/platform-node";
import { Effect, Layer, ManagedRuntime, Schema } from "effect";
import { HttpRouter } from "effect/http";
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api";
import { placed, sent } from "./order.mjs";

const params = { id: Schema.NumberFromString.check(Schema.isInt()) };
const item = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100));
const quantity = Schema.Number.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(1));
const Order = Schema.Struct({
  id: Schema.Number,
  item: Schema.String,
  quantity: Schema.Number,
  placed_at: Schema.Date,
});

const api = HttpApi.make("orders").add(
  HttpApiGroup.make("all").add(
    HttpApiEndpoint.get("text", "/", { success: Schema.String.pipe(HttpApiSchema.asText()) }),
    HttpApiEndpoint.get("inputs", "/id/:id", {
      params,
      query: { name: Schema.String },
      headers: { "x-tenant": Schema.String },
      success: Schema.Struct({ id: Schema.Number, name: Schema.String, tenant: Schema.String }),
    }),
    HttpApiEndpoint.get("order", "/orders/:id", { params, success: Order }),
    HttpApiEndpoint.post("place", "/orders", {
      payload: Schema.Struct({ item, quantity }),
      success: Order.pipe(HttpApiSchema.status(201)),
    }),
  ),
);
const handlers = HttpApiBuilder.group(api, "all", (group) =>
  group.handleAll({
    text: () => Effect.succeed("Hello."),
    inputs: ({ params, query, headers }) =>
      Effect.succeed({ id: params.id, name: query.name, tenant: headers["x-tenant"] }),
    order: ({ params }) => Effect.succeed(placed(params.id, sent)),
    place: ({ payload }) => Effect.succeed(placed(7, payload)),
  }),
);

/** Serves by a server of `node:http`. @param {import("node:http").Server} server @param {string} host @returns {Promise<void>} */
export async function serveBy(server, host) {
  const served = HttpRouter.serve(HttpApiBuilder.layer(api).pipe(Layer.provide(handlers)), {
    disableLogger: true,
  }).pipe(Layer.provide(NodeHttpServer.layer(() => server, { host, port: 0 })));
  await ManagedRuntime.make(served).runPromise(Effect.void);
}
