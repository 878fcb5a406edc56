/** A group of routes, and the sentences of other languages, in workerd. */
import { expect, it } from "vitest";
import { bundle, start } from "./running.ts";

const program = `import { Codec, Dep, Header, Path, Query, Refusal, Returns, Route, param, refuse } from "usher-http";
  import { chinese, french, german, japanese, languages, spanish } from "usher-http/languages";
  import { worker } from "../../../adapters/workers/index.ts";
  let runs = 0;
  const shopId = Path.int("shop_id");
  const token = Header.optional("x-user", Codec.string);
  const user = Dep.join({ token }, ({ token }) => {
    runs++;
    return token ?? refuse(Refusal.notFound);
  }, { refuses: [Refusal.notFound] });
  const shop = Route.group({ prefix: Path.of("shops", shopId), inputs: { shop: param(shopId), user }, refuses: [Refusal.notFound] });
  const inner = shop.group({ prefix: Path.of("stock") });
  const page = Query.default("page", Codec.int, 1);
  export default worker([
    shop.get(Path.of("orders"), { inputs: { page }, returns: Returns.text }, ({ shop, user, page }) => {
      return "page " + page + " of shop " + shop + " for " + user;
    }),
    inner.get(Path.of("runs"), { inputs: { again: user }, returns: Returns.text }, () => String(runs)),
  ], { languages: languages([german, french, spanish, japanese, chinese]) });`;

it("groups prefix their routes, share their inputs once a request, and may refuse; refusals are in the client's language", async () => {
  const { client } = await start(await bundle({ contents: program }));
  const asking = await client();
  const ask = (target: string, ...headers: string[]) => asking.ask(`GET ${target}`, headers).answer();
  expect((await ask("/shops/7/orders?page=2", "x-user: kim")).body).toBe("page 2 of shop 7 for kim");
  expect((await ask("/shops/7/stock/runs", "x-user: kim")).body).toBe("2");
  expect((await ask("/shops/7/orders")).status).toBe(404);
  const asked = ["nl", "de-CH", "de;q=0.5, fr", "es-MX", "ja", "zh-Hans-CN"];
  const wrong: { readonly status: number; readonly body: string }[] = [];
  for (const language of asked) {
    wrong.push(await ask("/shops/x/orders?page=y", "x-user: kim", `accept-language: ${language}`));
  }
  expect(wrong.map(({ status }) => status)).toEqual(asked.map(() => 400));
  expect(wrong.map(({ body }) => (JSON.parse(body) as { error: string }).error)).toEqual(asked.map(() => "invalid"));
  expect(new Set(wrong.map(({ body }) => body)).size).toBe(asked.length);
});
