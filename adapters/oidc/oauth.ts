import { NeededPackage } from "../../src/doors/base.ts";
import type * as exported from "./oauth-exports.ts";

/** What is used of the package `oauth4webapi`. */
export type OAuth = typeof exported;

/** The package `oauth4webapi`. */
export const oauthPackage: NeededPackage<OAuth> = /* @__PURE__ */ new NeededPackage(
  "oauth4webapi",
  () => import("./oauth-exports.ts"),
);

type Errors = Pick<
  OAuth,
  | "AuthorizationResponseError"
  | "OperationProcessingError"
  | "ResponseBodyError"
  | "UnsupportedOperationError"
  | "WWWAuthenticateChallengeError"
>;

/** Whether an error is one of the package, which throws none before it was imported. */
export function isOAuthError<Name extends keyof Errors>(
  name: Name,
  thrown: unknown,
): thrown is InstanceType<Errors[Name]> {
  const { loaded } = oauthPackage;
  return loaded !== undefined && thrown instanceof loaded[name];
}
