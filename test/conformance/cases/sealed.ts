/** Cookies that are signed or encrypted, and sessions, with every runtime's WebCrypto (rows SK, SE). */
import type { MessageCase } from "../case.ts";
import { text } from "../expected.ts";

// Made with Node's own crypto, at the instant of the clock of "proxied".
const signed = "784111777.a2lt.CjaJKXqD1qOwGO4CkXUr_Kg6OdNhfvXUIC2CqNkot84";
const encrypted = "AAECAwQFBgcICQoLkqHXn8CS44Bce7yiuiqkqqo0rti4Hz8dFZZnTLqt0lLvAl5jgUf_";

const reads = (name: string, cookie: string, told: string, on: "proxied" | "main" = "proxied"): MessageCase => {
  return { name, on, ask: "GET /sealed", headers: [["cookie", cookie]], answer: text(told) };
};

export const sealed: readonly MessageCase[] = [
  reads("SK-01, SK-06 they open", `who=${signed}; draft=${encrypted}`, "kim a secret plan"),
  reads("SK-02 changed", `who=${signed.replace("a2lt", "YW5u")}; draft=B${encrypted.slice(1)}`, "undefined undefined"),
  reads("SK-02 cut", `who=${signed.slice(0, -1)}; draft=${encrypted.slice(0, 20)}`, "undefined undefined"),
  reads("SK-03 moved", `who=${encrypted}; draft=${signed}`, "undefined undefined"),
  reads("SK-07 too old", `who=${signed}; draft=${encrypted}`, "undefined undefined", "main"),
  {
    name: "SK-08 one is set with its age",
    on: "proxied",
    ask: "GET /seals",
    answer: text("sealed", {
      headers: [["set-cookie", `who=${signed}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=60`]],
    }),
  },
  { name: "SE-03, SE-06 a session is found, and closed", ask: "GET /session", answer: text("22 kim undefined") },
];
