import { H3, HTTPError, readValidatedBody } from "h3";
import { NewOrder, placed, sent } from "./order.mjs";
import { restRoutes } from "./rest-routes.mjs";

export function app() {
  const app = new H3();
  app.get("/", (event) => {
    event.res.headers.set("content-type", "text/plain");
    return "Hello.";
  });
  app.get("/id/:id", (event) => {
    const name = event.url.searchParams.get("name");
    const tenant = event.req.headers.get("x-tenant");
    if (name === null || tenant === null) throw new HTTPError({ status: 400 });
    return { id: wholeNumber(event.context.params.id), name, tenant };
  });
  app.get("/orders/:id", (event) => placed(wholeNumber(event.context.params.id), sent));
  app.post("/orders", async (event) => {
    const order = await readValidatedBody(event, NewOrder);
    event.res.status = 201;
    return placed(7, order);
  });
  return app;
}

function wholeNumber(text) {
  if (!/^-?\d{1,15}$/.test(text)) throw new HTTPError({ status: 400 });
  return Number(text);
}

/** @param {number} count */
export function tableApp(count) {
  const app = new H3();
  for (const { method, segments } of restRoutes(count)) {
    const last = segments.at(-1);
    const text = segments.includes(":id") ? (event) => event.context.params.id : () => last;
    app.on(method, `/${segments.join("/")}`, (event) => {
      event.res.headers.set("content-type", "text/plain");
      return text(event);
    });
  }
  return app;
}
