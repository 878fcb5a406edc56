/** The `Dep` namespace: inputs made of inputs. */
export { bind } from "./bind.ts";
export {
  all,
  constant as return,
  credential,
  join,
  map,
  ofRequest,
  ofResource,
  problem,
  problems,
  refuse,
  resource,
  uncached,
} from "./dep.ts";
export { ofBody } from "./body-inputs.ts";
export type { CredentialOptions, Dep, DepValue as ValueOf, OAuthFlow, OAuthFlows } from "./dep.ts";
export { scoped, transaction } from "./scoped.ts";
export type { ScopedOptions, Transactional } from "./scoped.ts";
export type { RequestEnd } from "./request.ts";
