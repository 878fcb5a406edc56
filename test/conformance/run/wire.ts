import { RawClient } from "../../support/raw-client.ts";
import type { Lines, Step } from "../case.ts";
import { soon, withinDeadline } from "./deadline.ts";
import { ends } from "./ends.ts";
import type { Asked } from "./message.ts";
import { differences } from "./seen.ts";

/** A server for the steps of a case. */
export interface Stepped extends Asked {
  /** Waits for a line on its standard error that holds a text. */
  logged(text: string): Promise<void>;
  signal(signal: "SIGTERM" | "SIGINT"): void;
  /** Its exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
}

/** Runs the steps of a case one after the other; throws at the first that fails. */
export async function takeSteps(server: Stepped, steps: readonly Step[]): Promise<void> {
  const clients = new Map<string, RawClient>();
  const gates = new Set(steps.flatMap((step) => (step.does === "open" ? [step.gate] : [])));
  return withinDeadline(
    server.patienceMs,
    () => clients.values(),
    async () => {
      for (const [at, step] of steps.entries()) {
        const wrong = await take(step, server, clients).catch((error: unknown) => [(error as Error).message]);
        if (step.does === "open") gates.delete(step.gate);
        if (wrong.length === 0) continue;
        // No client is left waiting while it holds what other cases need.
        for (const gate of gates) await opened(server, gate);
        throw new Error(wrong.map((what) => `step ${at + 1}, ${step.does}: ${what}`).join("\n"));
      }
    },
  );
}

const right: readonly string[] = [];

async function take(step: Step, server: Stepped, clients: Map<string, RawClient>): Promise<readonly string[]> {
  switch (step.does) {
    case "open":
      return opened(server, step.gate);
    case "noted":
      return noted(server, step.key, step.text);
    case "logged":
      await soon(server.patienceMs, `line with ${step.text}`, server.logged(step.text));
      return right;
    case "signal":
      server.signal(step.signal);
      return right;
    case "refused":
      return soon(server.patienceMs, "refused connection", refusal(server.port));
    case "exit": {
      const how = await soon(server.patienceMs, "end of it", server.ended());
      return how === step.code || (step.code === "killed" && typeof how === "string")
        ? right
        : [`it ended with ${how}`];
    }
    default:
      return onWire(step, server, await clientOf(server.port, step.by, clients));
  }
}

type OnWire = Extract<Step, { readonly by: string }>;

async function onWire(step: OnWire, server: Stepped, client: RawClient): Promise<readonly string[]> {
  switch (step.does) {
    case "send":
      client.send(step.bytes);
      return right;
    case "answer": {
      const { expected, toHead } = step;
      const came = await client.answer({ toHead });
      const wrong = differences(came, expected, { toHead, oldVersion: false, allows: server.allows });
      return expected.bare === true && wrong.length === 0 ? ends(client) : wrong;
    }
    case "upgraded":
      return upgrade(step, server, client);
    case "frame": {
      const { first, payload } = await client.frame();
      const wrong = first === step.first && payload === step.payload;
      return wrong ? right : [`a frame ${said(first, payload)} came, not ${said(step.first, step.payload)}`];
    }
    case "closing":
      return closing(step, await client.frame());
    case "see-only": {
      const came = await client.bytes(step.text.length);
      return came === step.text ? right : [`${JSON.stringify(came)} came, not ${JSON.stringify(step.text)}`];
    }
    case "see":
      await client.sees(step.text);
      return right;
    case "closed":
      return ends(client);
    case "ended": {
      const rest = await client.rest();
      return rest === "" ? right : [`what came last was ${JSON.stringify(rest.slice(0, 300))}`];
    }
    case "cut": {
      // A whole one would be read to its end.
      const whole = await client.answer().then(
        (came) => JSON.stringify(came),
        () => undefined,
      );
      return whole === undefined ? right : [`a whole answer came: ${whole}`];
    }
    case "whole": {
      const { body } = await client.answer();
      return body.endsWith(step.text) ? right : [`the body ends with ${JSON.stringify(body.slice(-100))}`];
    }
    case "half-close":
      client.socket.end();
      return right;
    case "leave":
      client.leave();
      return right;
    case "discard":
      client.discard();
      return right;
    case "stop-reading":
      client.socket.pause();
  }
  return right;
}

const said = (first: number, payload: string): string =>
  `${first.toString(16)} ${JSON.stringify(payload.slice(0, 200))}`;

async function upgrade(
  { protocol, headers }: Extract<Step, { readonly does: "upgraded" }>,
  { allows }: Stepped,
  client: RawClient,
): Promise<readonly string[]> {
  const came = await client.answer();
  if (came.status !== 101) return [`status ${came.status}, not 101`, came.body];
  const due: Lines = [
    ["upgrade", "websocket"],
    ["connection", "upgrade"],
    ["sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="],
    ...(protocol === undefined ? [] : [["sec-websocket-protocol", protocol] as const]),
    ...headers,
  ];
  const wrong: string[] = [];
  const named = (lines: Lines, name: string) => lines.flatMap(([given, value]) => (given === name ? [value] : []));
  const head: Lines = came.head.map(([name, value]) => {
    return [name.toLowerCase(), name.toLowerCase() === "connection" ? value.toLowerCase() : value];
  });
  for (const name of new Set([...due, ...head].map(([name]) => name))) {
    const [values, expected] = [named(head, name), named(due, name)];
    if (name === "x-request-id" ? values.length === 1 : JSON.stringify(values) === JSON.stringify(expected)) continue;
    if (expected.length === 0 && (allows.writes(`${name} of a 101`) || allows.writes(name))) continue;
    wrong.push(`${name} ${JSON.stringify(values)}, not ${JSON.stringify(expected)}`);
  }
  return wrong;
}

function closing(
  { code, reason }: Extract<Step, { readonly does: "closing" }>,
  { first, payload }: { readonly first: number; readonly payload: string },
): readonly string[] {
  if (first !== 0x88) return [`a frame ${said(first, payload)} came, and no close`];
  const [high = 0, low = 0] = Buffer.from(payload, "latin1");
  const came = payload === "" ? undefined : high * 256 + low;
  if (came !== code) return [`closed with ${came ?? "no code"}, not ${code ?? "with none"}`];
  const why = Buffer.from(payload.slice(2), "latin1").toString();
  return reason === undefined || why === reason ? right : [`closed for ${JSON.stringify(why)}`];
}

async function clientOf(port: number, by: string, clients: Map<string, RawClient>): Promise<RawClient> {
  const client = clients.get(by) ?? (await RawClient.to(port));
  clients.set(by, client);
  return client;
}

async function opened({ port, patienceMs }: Asked, gate: string): Promise<readonly string[]> {
  const { status } = await once(port, patienceMs, `POST /control/open/${encodeURIComponent(gate)}`);
  return status === 204 ? right : [`the gate's answer was ${status}`];
}

async function noted({ port, patienceMs }: Asked, key: string, text: string): Promise<readonly string[]> {
  const { body } = await once(port, patienceMs, `GET /control/noted/${encodeURIComponent(key)}`);
  return body === text ? right : [`the note of ${key} is ${JSON.stringify(body)}, not ${JSON.stringify(text)}`];
}

async function once(
  port: number,
  patienceMs: number,
  line: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const client = await RawClient.to(port);
  return withinDeadline(
    patienceMs,
    () => [client],
    () => client.ask(line, line.startsWith("POST") ? ["content-length: 0"] : []).answer(),
  );
}

/** Waits until the port has no listener. */
async function refusal(port: number): Promise<readonly string[]> {
  for (;;) {
    try {
      (await RawClient.to(port)).leave();
    } catch (error) {
      // A reset comes from a connection that waited to be accepted when its listener closed.
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return right;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
