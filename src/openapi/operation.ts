import type { Code } from "../refusals/code.ts";
import type { Route } from "../routes/route.ts";
import { answersOf, eitherOf } from "./answers.ts";
import type { Responses } from "./responses.ts";
import { readsOf } from "./inputs.ts";
import type { Credential } from "./inputs.ts";
import { parametersOf } from "./parameters.ts";
import type { Parameter } from "./parameters.ts";
import { codesOf, refusalsOf } from "./refusals.ts";
import { requestBodyOf } from "./request-body.ts";
import { securityOf } from "./security.ts";
import type { SecurityRequirement } from "./security.ts";
import { sharingOf } from "./sharing.ts";
import type { Telling } from "./telling.ts";

/** A route as the document has it, in parts that can still be put together with those of another. */
export interface Described {
  readonly route: Route;
  /** `GET /orders/{order_id}`. */
  readonly name: string;
  readonly id: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: object | undefined;
  readonly answers: Responses;
  readonly codes: readonly Code[];
  readonly credentials: readonly Credential[];
  readonly security: readonly SecurityRequirement[] | undefined;
  /** What it reads beside, in its author's words. */
  readonly alsoReads: readonly string[];
  /** Whose pages may read its answers, where others may. */
  readonly sharing: object | undefined;
  readonly isOpaque: boolean;
}

export function describeRoute(route: Route, telling: Telling): Described {
  const reads = readsOf(route.inputs);
  const codes = codesOf(route, reads);
  const answers = answersOf(route.returns.node, telling);
  return {
    route,
    name: `${route.method} ${route.pattern}`,
    id: operationId(route),
    parameters: parametersOf(route, reads.values),
    answers,
    requestBody: requestBodyOf(reads, telling),
    codes,
    credentials: reads.credentials,
    security: securityOf(reads.credentials, codes),
    alsoReads: reads.alsoReads,
    sharing: sharingOf(telling.sharing, route),
    isOpaque: reads.isOpaque,
  };
}

/** `POST /orders/{order_id}/items` is `post_orders_order_id_items`. */
function operationId({ method, pattern }: Route): string {
  const words = pattern.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_");
}

/** The operation object of a route. */
export function operationOf(described: Described): object {
  const { route, id, parameters, requestBody, answers, codes, security, alsoReads, sharing } = described;
  const { summary, description, tags } = route;
  return {
    operationId: id,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: eitherOf(answers, refusalsOf(codes)),
    ...(security === undefined ? {} : { security }),
    ...(alsoReads.length === 0 ? {} : { "x-reads": alsoReads }),
    ...(sharing === undefined ? {} : { "x-cors": sharing }),
  };
}
