/** Tools whose calls a client cancels, leaves and resumes. Another call of the session publishes the events for such a call. */
import { Codec, Dep, Header, Meta, Path, Query, Refusal, Returns, clientGone, get, peer, refuse } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { Tick, following, news, publish, ticksUntil } from "./ticks.ts";

// The requests of two Durable Objects share no promise: each session has a topic of its own.
const topic = Query.required("topic", Codec.string);
const signedOut = Refusal.code("signed_out", { status: 401, doc: "There is no key.", challenge: "Key" });
const key = Dep.credential(
  "key",
  Dep.join({ key: Header.optional("x-key", Codec.string) }, ({ key }) => key ?? refuse(signedOut, "Sign in."), {
    refuses: [signedOut],
  }),
);
const tool = (name: string, more: Meta.Tool = {}) => ({ meta: Meta.tool({ name, ...more }) });

const follow = get(
  Path.of("follow"),
  { ...tool("follow", { events: "progress" }), inputs: { clientGone, topic }, returns: Returns.events([Tick]) },
  ({ clientGone, topic }) => ticksUntil(clientGone, topic),
);
const waits = get(
  Path.of("waits"),
  { ...tool("waits"), inputs: { clientGone, topic }, returns: Returns.text },
  async ({ clientGone, topic }) => {
    const ticks = news.subscribe(topic);
    await ticks.next({ until: clientGone });
    ticks.unsubscribe();
    return clientGone.aborted ? "cancelled" : "done";
  },
);
/** A negative number ends the followers. */
const publishing = get(
  Path.of("publish"),
  { ...tool("publish"), inputs: { topic, n: Query.required("n", Codec.int) }, returns: Returns.text },
  ({ topic, n }) => {
    publish(n, topic);
    return "published";
  },
);
const followers = get(
  Path.of("following"),
  { ...tool("following"), inputs: { topic }, returns: Returns.text },
  ({ topic }) => String(following(topic)),
);
const mine = get(Path.of("mine"), { ...tool("mine"), inputs: { key, topic }, returns: Returns.text }, ({ key }) => key);
const address = get(
  Path.of("address"),
  { ...tool("address"), inputs: { peer, topic }, returns: Returns.text },
  ({ peer }) => peer,
);

const tools = [follow, waits, publishing, followers, mine, address];
const about = { name: "ticks", version: "1" };

/** Servers whose calls wait a minute for their client, whose calls do not wait, and whose sessions last as long as a call. */
export const sessionRoutes: readonly Route[] = [
  ...tools,
  ...Mcp.routes(tools, { ...about, sessions: { resumeMs: 60_000, maxKept: 600 } }),
  ...Mcp.routes(tools, { ...about, path: "/hasty", sessions: { resumeMs: 1 } }),
  ...Mcp.routes(tools, { ...about, path: "/brief", sessions: { idleMs: 1 } }),
];
