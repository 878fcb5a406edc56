/** The `Dep` namespace: inputs made of inputs. */
export { all, constant as return, credential, join, map, problem, problems, refuse, uncached } from "./dep.ts";
export { bind } from "./dep.ts";
export { ofBody } from "./body-inputs.ts";
export { ofRequest } from "./dep.ts";
export { ofResource, resource } from "./dep.ts";
export type { CredentialOptions, Dep, DepValue as ValueOf, OAuthFlow, OAuthFlows } from "./dep.ts";
export { scoped, transaction } from "./scoped.ts";
export type { ScopedOptions, Transactional } from "./scoped.ts";
export type { RequestEnd } from "./request.ts";
