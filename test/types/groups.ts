/** Groups of routes: what must read well, and what the compiler must refuse, at the place where it is written. */
import * as v from "valibot";
import { Client, Codec, Dep, Header, Path, Query, Refusal, Returns, Route, get, json, param, refuse } from "usher-http";

const accountId = Path.int("account_id");
const orderId = Path.int("order_id");
const signedOut = Refusal.code("signed_out", { status: 401, doc: "No token.", challenge: "Bearer" });
const frozen = Refusal.code("frozen", { status: 409, doc: "The account is frozen." });
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none left." });
interface Clerk {
  readonly name: string;
}
const clerk = Dep.join(
  { token: Header.required("x-token", Codec.string) },
  ({ token }): Clerk | Refusal<"signed_out"> => (token === "" ? refuse(signedOut) : { name: token }),
  { refuses: [signedOut] },
);
const Order = v.object({ item: v.string() });

const accounts = Route.group({
  prefix: Path.of("accounts", accountId),
  inputs: { account: param(accountId), clerk },
  refuses: [frozen],
  tags: ["Accounts"],
});
const show = accounts.get(
  Path.of("orders", orderId),
  { inputs: { id: param(orderId), page: Query.default("page", Codec.int, 1) }, returns: Returns.text },
  ({ account, clerk, id, page }) => {
    const sum: number = account + id + page;
    return sum === 0 ? refuse(frozen) : `${clerk.name.length + sum}`;
  },
);
const place = accounts.post(
  Path.root,
  { inputs: { order: json(Order), again: param(accountId) }, returns: Returns.json(Order), refuses: [soldOut] },
  async ({ order, clerk, again }) => (clerk.name === "" ? refuse(soldOut) : { item: order.item + again }),
);
const notes = accounts.group({ prefix: Path.of("notes"), inputs: { loud: Query.required("loud", Codec.bool) } });
const clear = notes.del(Path.root, { returns: Returns.empty() }, ({ account, loud, clerk }) => {
  const isLoud: boolean = loud;
  void [isLoud, clerk.name, account + 1];
});
const find = notes.route("SEARCH", Path.root, { returns: Returns.json(Order) }, ({ clerk }) => ({ item: clerk.name }));
const [plain] = accounts.group({ prefix: Path.of("all") }, [
  get(Path.of("plain"), { returns: Returns.text }, () => "x"),
]);
const unprefixed = Route.group({ tags: ["Bare"] }).get(Path.of("bare"), { returns: Returns.text }, () => "x");

/** Every pattern is a literal. */
const patterns: Record<
  (typeof show | typeof place | typeof clear | typeof plain | typeof unprefixed)["pattern"],
  true
> = {
  "/accounts/{account_id}/orders/{order_id}": true,
  "/accounts/{account_id}": true,
  "/accounts/{account_id}/notes": true,
  "/accounts/{account_id}/all/plain": true,
  "/bare": true,
};
void patterns;
export const routes = [show, place, clear, find, plain, unprefixed] as const;

const api = Client.of<typeof routes>({ baseUrl: "" });
const sent = { path: { account_id: 1, order_id: 2 }, headers: { "x-token": "t" } };
export async function called() {
  const shown = await api["GET /accounts/{account_id}/orders/{order_id}"]({ ...sent, query: { page: 2 } });
  if (!shown.ok && (shown.error === "frozen" || shown.error === "signed_out")) return shown.message;
  const token = { headers: { "x-token": "t" } };
  const placed = await api["POST /accounts/{account_id}"]({ path: { account_id: 1 }, ...token, json: { item: "pen" } });
  if (!placed.ok && placed.error === "sold_out") return placed.message;
  await api["DELETE /accounts/{account_id}/notes"]({ path: { account_id: 1 }, ...token, query: { loud: true } });
  await api["GET /accounts/{account_id}/all/plain"]({ path: { account_id: 1 }, ...token });
  // @ts-expect-error the group's header is missing
  await api["GET /accounts/{account_id}/all/plain"]({ path: { account_id: 1 } });
  await api["GET /bare"]();
  return shown.ok ? shown.value : "";
}

// @ts-expect-error a name that the group has already
accounts.get(Path.root, { inputs: { clerk: param(accountId) }, returns: Returns.text }, () => "");
// @ts-expect-error a name that the outer group has already
accounts.group({ inputs: { account: param(accountId) } });
// @ts-expect-error a name that the outer group's outer group has already
notes.get(Path.root, { inputs: { account: param(accountId) }, returns: Returns.text }, () => "");
// @ts-expect-error a refusal that neither the group nor the route declares
accounts.get(Path.root, { returns: Returns.text }, () => refuse(soldOut));
// @ts-expect-error a refusal that only an input of the group declares
accounts.get(Path.root, { returns: Returns.text }, () => refuse(signedOut));
// @ts-expect-error an input that neither the group nor the route declares
accounts.get(Path.root, { returns: Returns.text }, ({ page }) => `${page}`);
// @ts-expect-error an input of a group inside of this one
accounts.get(Path.root, { returns: Returns.text }, ({ loud }) => `${loud}`);
// @ts-expect-error an input of the group as another type
accounts.get(Path.root, { returns: Returns.text }, ({ account }) => account.toUpperCase());
// @ts-expect-error an answer of another type
accounts.get(Path.root, { returns: Returns.text }, ({ account }) => account);
// @ts-expect-error a parameter that neither the prefix nor the path has
accounts.get(Path.root, { inputs: { id: param(orderId) }, returns: Returns.text }, () => "");
// @ts-expect-error a parameter that the prefix does not have
Route.group({ prefix: Path.of("accounts", accountId), inputs: { id: param(orderId) } });
// @ts-expect-error a prefix that is a text
Route.group({ prefix: "/accounts" });
// @ts-expect-error no option of a group
Route.group({ input: { clerk } });
// @ts-expect-error a group's routes that are not spread
Route.group({ prefix: Path.of("v1") }, [Route.group({}, [show])]);

// The options may be a value of their own, and the literals of an answer are kept.
const shared = { prefix: Path.of("v1"), inputs: { clerk }, refuses: [frozen] };
const word = Route.group(shared).get(
  Path.of("word"),
  { returns: Returns.json(v.picklist(["new", "old"])) },
  async ({ clerk }) => (clerk.name === "" ? refuse(frozen) : "new"),
);
const isWord: Record<typeof word.pattern, true> = { "/v1/word": true };
const joined = Path.join(Path.of("accounts", accountId), Path.of("orders", orderId));
const isJoined: Record<typeof joined.pattern, true> = { "/accounts/{account_id}/orders/{order_id}": true };
void [isWord, isJoined, Path.url(joined, { account_id: 1, order_id: 2 })];
// @ts-expect-error an argument of the prefix is missing
Path.url(joined, { order_id: 2 });
