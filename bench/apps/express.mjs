import express from "express";
import * as v from "valibot";
import { NewOrder, placed, sent } from "./order.mjs";

export function app() {
  const app = express();
  app.get("/", (_request, response) => void response.type("text/plain").send("Hello."));
  app.get("/id/:id", (request, response) => {
    const id = wholeNumber(request.params.id);
    const { name } = request.query;
    const tenant = request.get("x-tenant");
    if (id === undefined || typeof name !== "string" || tenant === undefined) response.sendStatus(400);
    else response.json({ id, name, tenant });
  });
  app.get("/orders/:id", (request, response) => {
    const id = wholeNumber(request.params.id);
    if (id === undefined) response.sendStatus(400);
    else response.json(placed(id, sent));
  });
  app.post("/orders", express.json(), (request, response) => {
    const order = v.safeParse(NewOrder, request.body);
    if (order.success) response.status(201).json(placed(7, order.output));
    else response.sendStatus(400);
  });
  return app;
}

/** @param {string} text */
function wholeNumber(text) {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}
