/** The shop, on the runtime that runs this file. */
import { shopRoutes } from "./shop-routes.ts";
import type { ShopEnvironment } from "./shop-routes.ts";
import { serve } from "../../support/serve-here.ts";

const environment = JSON.parse(process.env["SHOP"] ?? "") as ShopEnvironment;
const { port } = await serve(shopRoutes(environment), {
  host: "127.0.0.1",
  port: Number(new URL(environment.ORIGIN).port),
});
console.log(`listening ${port}`);
