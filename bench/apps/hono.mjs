import { Hono } from "hono";
import { validator } from "hono/validator";
import * as v from "valibot";
import { NewOrder, placed, sent } from "./order.mjs";
import { restRoutes } from "./rest-routes.mjs";

const wholeNumber = v.pipe(v.string(), v.regex(/^-?\d{1,15}$/), v.transform(Number));

const valid = (target, schema) =>
  validator(target, (value, c) => {
    const read = v.safeParse(schema, value);
    return read.success ? read.output : c.json({ issues: v.flatten(read.issues) }, 400);
  });

/** @param {import("hono").MiddlewareHandler} [around] */
export function app(around) {
  const app = new Hono();
  if (around !== undefined) app.use(around);
  app.get("/", (c) => c.text("Hello."));
  app.get(
    "/id/:id",
    valid("param", v.object({ id: wholeNumber })),
    valid("query", v.object({ name: v.string() })),
    valid("header", v.object({ "x-tenant": v.string() })),
    (c) =>
      c.json({
        id: c.req.valid("param").id,
        name: c.req.valid("query").name,
        tenant: c.req.valid("header")["x-tenant"],
      }),
  );
  app.get("/orders/:id", valid("param", v.object({ id: wholeNumber })), (c) =>
    c.json(placed(c.req.valid("param").id, sent)),
  );
  app.post("/orders", valid("json", NewOrder), (c) => c.json(placed(7, c.req.valid("json")), 201));
  return app;
}

/** @param {number} count */
export function tableApp(count) {
  const app = new Hono();
  for (const { method, segments } of restRoutes(count)) {
    const last = segments.at(-1);
    const handler = segments.includes(":id") ? (c) => c.text(c.req.param("id")) : (c) => c.text(last);
    app.on(method, `/${segments.join("/")}`, handler);
  }
  return app;
}
