/** Inputs of routes, and the body that a listener gives them. */
export { readChosen } from "../inputs/bind.ts";
export { isTypeOf, ofBody } from "../inputs/body-inputs.ts";
export {
  answeredBefore,
  bodyTooLarge,
  endedEarly,
  gather,
  isFailure,
  joined,
  noRoom,
  tooSlow,
} from "../inputs/body-source.ts";
export type { BodyFailure, BodyReceiver, BodySource } from "../inputs/body-source.ts";
export { setCookie } from "../inputs/connection.ts";
export { constant, credential, map, ofRequest } from "../inputs/dep.ts";
export type { AnyDep, Awaitable, Challenge, CredentialOptions, Dep, DepNode, Inputs, Reading } from "../inputs/dep.ts";
export type { BodyDecoding, DecodedSource } from "../inputs/encoded-body.ts";
export { optional as optionalHeader } from "../inputs/header.ts";
export { commonNameOf } from "../inputs/peer-certificate.ts";
export type { CertificateHolder, PeerCertificate } from "../inputs/peer-certificate.ts";
export { optional as optionalQuery } from "../inputs/query.ts";
export type { InputRequest, RequestRecord } from "../inputs/request.ts";
export { isInput, ofApp, storeInput } from "../inputs/store.ts";
export type { StoreFrom } from "../inputs/store.ts";
export { validWhile } from "../inputs/validity.ts";
export { headerOf, wirePairs } from "../inputs/wire-write.ts";
