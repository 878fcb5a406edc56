/** The applications of the cases, by the names that the cases use. Each target runs every one of them. */
import { Answer, Health, Path, Proxies, Result } from "usher-http";
import type { AppOptions, Route } from "usher-http";
import type { Configuration } from "../case.ts";
import { answers } from "./answers.ts";
import { bodies } from "./bodies.ts";
import { codecs } from "./codecs.ts";
import { events } from "./events.ts";
import { forms } from "./forms.ts";
import { inputs } from "./inputs.ts";
import { jsonBodies } from "./json-bodies.ts";
import { lines } from "./lines.ts";
import { guards, hello, ok, routing, site } from "./routing.ts";
import { sealed } from "./sealed.ts";
import { refusals, settings } from "./set.ts";
import { sockets } from "./sockets.ts";
import { takeovers } from "./takeovers.ts";
import { controls } from "./state.ts";
import { waiting } from "./waiting.ts";
import { wrong, wrongOptions } from "./wrong.ts";

/** Options of a listener, in addition to those of the app. */
interface ListenerOptions {
  readonly maxHeaderBytes?: number;
  readonly headTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly minBodyRate?: number;
  readonly sendTimeoutMs?: number;
}

export interface Configured {
  readonly routes: readonly Route[];
  readonly options: AppOptions & ListenerOptions;
}

const always: readonly Route[] = [hello, ok, ...controls];
const passes = Health.check("cache", () => Result.ok(undefined));
const fails = (name: string): Health.Check => Health.check(name, async () => Result.error("password rejected"));
const everything: readonly Route[] = [
  ...always,
  ...routing,
  ...inputs,
  ...codecs,
  ...jsonBodies,
  ...forms,
  ...bodies,
  ...lines,
  ...answers,
  ...settings,
  ...refusals,
  ...sealed,
  ...waiting,
  ...takeovers,
  ...events,
  ...wrong,
];
const notFound: AppOptions["notFound"] = ({ rawPath }) => Answer.html(`nothing at ${rawPath}`, { status: 404 });

export const configurations: { readonly [C in Configuration]: Configured } = {
  main: { routes: [...everything, ...sockets, ...Health.routes([fails("db"), passes, fails("queue")])], options: {} },
  page: {
    routes: [...always, ...routing, ...Health.routes([passes], { live: Path.of("alive"), ready: Path.of("ready") })],
    options: { notFound, trailingSlash: "redirect" },
  },
  site: { routes: [...always, ...site], options: { notFound, middleware: guards } },
  small: {
    routes: [...always, ...jsonBodies, ...forms, ...bodies, ...waiting],
    options: { maxBody: 32, bodyBudget: 100, bodyShare: 100 },
  },
  proxied: {
    routes: everything,
    options: {
      trustedProxies: Proxies.make(["127.0.0.1", "::1", "10.0.0.0/8"]),
      // Row AN-16's clock.
      now: () => new Date(784_111_777_000),
    },
  },
  forwarded: {
    routes: everything,
    options: { trustedProxies: Proxies.make(["127.0.0.1", "::1", "10.0.0.0/8"], { header: "forwarded" }) },
  },
  wrong: { routes: [...always, ...wrong], options: wrongOptions },
  // A process for each case: with the routes of `main` it would take a third longer to start.
  stopping: { routes: [...always, ...waiting, ...takeovers, ...events, ...sockets], options: {} },
  // Each time limit is as short as a test needs it, and longer than a request here takes.
  // The idle time begins with a connection, before its request, so it is the longest: a second expired during an endless stream.
  impatient: {
    routes: [...everything, ...sockets],
    options: {
      maxHeaderBytes: 1024,
      headTimeoutMs: 300,
      idleTimeoutMs: 4000,
      bodyTimeoutMs: 300,
      minBodyRate: 1_000_000,
      sendTimeoutMs: 300,
    },
  },
};

/** Configurations with a process of their own: some limits are per process (Bun), and a server that stops ends its process. */
export const alone: ReadonlySet<string> = new Set<Configuration>(["impatient", "stopping"]);
