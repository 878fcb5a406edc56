import * as Client from "usher-http/client";
import type { routes } from "./routes.ts"; // the types alone: no code of the server

const api = Client.of<typeof routes>({ baseUrl: "http://localhost:8080" });

const placed = await api["POST /orders"]({ json: { item: "ink", quantity: 2 } });
if (placed.ok) console.log(`Order ${placed.value.id} costs ${placed.value.cents} cents.`);
else if (placed.error === "sold_out") console.log("There is too little ink left.");
else console.log(`Nothing was placed: ${placed.message}`);
