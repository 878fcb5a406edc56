/**
 * Tokens that the providers themselves signed, with the public keys that they had at the time, as public tests print them. All have expired:
 * a test holds the clock at one second after `iat`.
 */
import type { JwtOptions } from "usher-http/jwt";

/** One token of a provider, and how a service has to be set up to accept it. */
export interface IssuedToken {
  readonly name: string;
  /** The repository and the file with the token and the key. */
  readonly source: string;
  /** A JSON Web Key Set, or the text of a PEM file. */
  readonly keys: object | string;
  readonly token: string;
  readonly options: Pick<JwtOptions, "issuer" | "audience"> & Partial<JwtOptions>;
  /** A scope that it has. */
  readonly scope?: string;
}

const redpanda = "redpanda-data/redpanda, src/v/security/tests/jwt_test.cc";

export const issued: readonly IssuedToken[] = [
  {
    name: "Auth0, an access token of a machine",
    source: redpanda,
    keys: {
      keys: [
        {
          kty: "RSA",
          use: "sig",
          alg: "RS256",
          kid: "tMQzailSAdaW4nojXxES9",
          x5t: "_LDYs6FFeEvJ-ng_a5-cxjUYaRw",
          e: "AQAB",
          n: "zs8Zk1hD9hh8XGfXy21K5yzreZf7R9vYTQTNVGKdDDHfB7YRbC1FRwi6pGca3ElQHtH5l4S93MUaQtkN8JYI-5YyGzxBOVyiwdc_qJ-jNWYzVdZX7PuCo-h3ikBJkD5N9f9b-zv0c_uHhtluzHQkhaCxVJn5t4XQ5HAm1qfxJgotVXbrTDGAdZEh7p5RI2kU8RAGE68RLUVsAGXdefs73QGVpM_uGONlqfMQk05ewyS2iqo14MfMwUn60gREk1w7riMGJvddEATe8XfOTZwErsf8ZcExXMVOcBmIn694y1CZx6LimrWIzWynvuC6h8OFCC76I_TiPHqiMaLXqaNabQ",
        },
        {
          kty: "RSA",
          use: "sig",
          alg: "RS256",
          kid: "NKxtg1GbhZJBVcnBjtSqI",
          x5t: "ENffeDpSw-aWSjJq0pCEhtDnYP0",
          e: "AQAB",
          n: "sP1lZhMdFVBrS06tFjwtuY0oRxDcZ8vPzUyUA5-vULpihTFDM-Jkeskvi3lAsZVkIv8iJVGSqdoBQyr3c27DWfDsUnH1HY1vGI6oB2m61uemCir104P07J6sZwO46hRnjp5vub2vJMjN_o4BOD2XiYXsTLg2gXsuh32HHKOr7ljbEZm4ygLeDVknGsSRIROxRWE8VPWjTQYRktAzwW8SMXI1wWxvg8wI6sKI4ydBMhQHO8ZomcIzdo66H31a45j2Jxn5JxKy-fMJbMg3qfTVh_9FMIOAjdVqtPN1g0TkoI8Y1H_iqkGq7tvqURnHBsbVkxwnaisJFJ1r67P7QnK3pw",
        },
      ],
    },
    token:
      "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InRNUXphaWxTQWRhVzRub2pYeEVTOSJ9.eyJpc3MiOiJodHRwczovL2Rldi1sdHhjaGNsczRpZ3pobzc4LnVzLmF1dGgwLmNvbS8iLCJzdWIiOiIzSkplSTR0bU1DNnY4bUNWQ1NEbkFHVmYydnJuSjBCVEBjbGllbnRzIiwiYXVkIjoibG9jYWxob3N0IiwiaWF0IjoxNjk1ODg3OTQyLCJleHAiOjE2OTU5NzQzNDIsImF6cCI6IjNKSmVJNHRtTUM2djhtQ1ZDU0RuQUdWZjJ2cm5KMEJUIiwic2NvcGUiOiJlbWFpbDIiLCJndHkiOiJjbGllbnQtY3JlZGVudGlhbHMifQ.W6rhgOjWcTPmpeLHiGSd668HHnZJvHgP0QSKU0F1vnin_UMIpei9IONfN28YSHlAabdUs2JAV70AvVeXB9IqUcEi_Cfubf3JRpmRcvfyApnmfcRktg1Rq0DVGVl6uBPlqX12SAQ4GPYe4BysUuMb8X-FU99wF6waCAQw8XLu_Texqy8QOQhW9vZtm5HC54-APn9PV6ZAtG989ihePOsauXUHNe2sqF_iJ1_7-nkqRbgb_Je-8UjahAkC54y5LPTMVFQvTB5lntf-sUyHl5oPH7P58M8eNUocOOGADUmrfKMYeSLacM_9mPvZR_uMbVX0iNt18KO6hKkIvAPrb4U8SA",
    options: { issuer: "https://dev-ltxchcls4igzho78.us.auth0.com/", audience: "localhost" },
    scope: "email2",
  },
  {
    name: "Okta, an access token of a custom authorization server",
    source: redpanda,
    keys: {
      keys: [
        {
          kty: "RSA",
          alg: "RS256",
          kid: "f4-dpAc7AqynmGcjjS9LLPCBEW2ezVfIbAqTHPyKe_Y",
          use: "sig",
          e: "AQAB",
          n: "jRkJD3j3D5Zt2ZutvOxaJvgG9iCAi2NjXMAF8lSwFH_2YDc5XFAuFuvMeJp0O-RRPFuOqltp-TmC9v6b7lJaLbvenAf8YtwS5j1hfwekTDpEDjtDrd_57VsbMqCt8_2aEG5qOO8nMB2bNSNKwWL6OsDf8cZZl_v9ifeFD5L12JIzPaCskhL2SZVuHtUTwcuDgjLTGTVrPVmwJri8ZulmKu8t3DOqwwsr1ezqwcVtNucDxB-GeDKAkUCIdEbTEvpcVaQt-Z4i9AA-9tbXuXOQwLvy8ijt-Kaf0V7527LshRejwFCz7Ifz-orWaGyXbGOQDiJl6-hLd8kI8uTfU3zwWw",
        },
      ],
    },
    token:
      "eyJraWQiOiJmNC1kcEFjN0FxeW5tR2NqalM5TExQQ0JFVzJlelZmSWJBcVRIUHlLZV9ZIiwiYWxnIjoiUlMyNTYifQ.eyJ2ZXIiOjEsImp0aSI6IkFULk1ZcVRWaTVFT2V5U0NjeHZ2QUNENGVfN1pFTl8zanVSTmFfbDFnb3lTQXciLCJpc3MiOiJodHRwczovL2Rldi02OTc4NTY3OS5va3RhLmNvbS9vYXV0aDIvZGVmYXVsdCIsImF1ZCI6ImFwaTovL2RlZmF1bHQiLCJpYXQiOjE2OTkzOTUzNjcsImV4cCI6MTY5OTM5ODk2NywiY2lkIjoiMG9hZDVuZ3B2ZktZMXBqNlI1ZDciLCJzY3AiOlsibXlDdXN0b21TY29wZSJdLCJzdWIiOiIwb2FkNW5ncHZmS1kxcGo2UjVkNyJ9.Z70D28OtRHmgUZrBQ9XbdEONk-UfdPiGlFAuyREjn3GWVsGi4K9wwvLs8vGgcNR3r1IWBOTXPL-MXtptQDBhRwDkZDQWRUqaoBBul5mHFjSXGeSk1_YM4se4_jH9FZCP0vpavRIlsBpNwiOT9I9I9fkJp9qGA7IQ6LrxezKYpBbQUXcy7bw0oom84ej0ai2zP1_Yphtw6fYgZNOJ8xpf-wtBxzyZgW4Vb3ABnlMcS294h_VR39Cx09yfHXLqVgYactujzXxcAjYD2fCyFWHJ-5ZCZZxHWrM_wToCvoe7vytGTrAbOo2_hLhYw78o6cGXLGoHOe-akCpmGd9HzNIMCg",
    options: {
      issuer: "https://dev-69785679.okta.com/oauth2/default",
      audience: "api://default",
      scopeClaim: "scp",
    },
    scope: "myCustomScope",
  },
  {
    name: "Microsoft Entra ID, version 1.0, of a machine",
    source: redpanda,
    keys: {
      // Entra's keys name their issuer, and have no `alg`.
      keys: [
        {
          kty: "RSA",
          use: "sig",
          kid: "9GmnyFPkhc3hOuR22mvSvgnLo7Y",
          x5t: "9GmnyFPkhc3hOuR22mvSvgnLo7Y",
          issuer: "https://login.microsoftonline.com/9a95fd9e-005d-487a-9a01-d08c1eab2757/v2.0",
          e: "AQAB",
          n: "z_w-5U4eZwenXYnEgt2rCN-753YQ7RN8ykiNprNiLl4ilpwAGLWF1cssoRflsSiBVZcCSwUzUwsifG7sbRq9Vc8RFs72Gg0AUwPsJFUqNttMg3Ot-wTqsZtE5GNSBUSqnI-iWoZfjw-uLsS0u4MfzP8Fpkd-rzRlifuIAYK8Ffi1bldkszeBzQbBZbXFwiw5uTf8vEAkH_IAdB732tQAsNXpWWYDV74nKAiwLlDS5FWVs2S2T-MPNAg28MLxYfRhW2bUpd693inxI8WTSLRncouzMImJF4XeMG2ZRZ0z_KJra_uzzMCLbILtpnLA95ysxWw-4ygm3MxN2iBM2IaJeQ",
        },
      ],
    },
    token:
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsIng1dCI6IjlHbW55RlBraGMzaE91UjIybXZTdmduTG83WSIsImtpZCI6IjlHbW55RlBraGMzaE91UjIybXZTdmduTG83WSJ9.eyJhdWQiOiJhcGk6Ly82ZGUxZGJiMy0xMGM2LTQ5ZTYtOWY2Ny0xMTlmMzA2ODRhMWIiLCJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC85YTk1ZmQ5ZS0wMDVkLTQ4N2EtOWEwMS1kMDhjMWVhYjI3NTcvIiwiaWF0IjoxNjk5MjEzMTYxLCJuYmYiOjE2OTkyMTMxNjEsImV4cCI6MTY5OTIxNzA2MSwiYWlvIjoiRTJWZ1lKajEvdlc5OTR2bFpXbyt6SnQ0STBGNE9nQT0iLCJhcHBpZCI6IjZkZTFkYmIzLTEwYzYtNDllNi05ZjY3LTExOWYzMDY4NGExYiIsImFwcGlkYWNyIjoiMSIsImlkcCI6Imh0dHBzOi8vc3RzLndpbmRvd3MubmV0LzlhOTVmZDllLTAwNWQtNDg3YS05YTAxLWQwOGMxZWFiMjc1Ny8iLCJvaWQiOiJhMzY1ODI3YS02YjMyLTQxMDAtYmY1MS01ZmJkM2MzZDFmNzQiLCJyaCI6IjAuQVgwQW52MlZtbDBBZWtpYUFkQ01IcXNuVjdQYjRXM0dFT1pKbjJjUm56Qm9TaHVhQUFBLiIsInN1YiI6ImEzNjU4MjdhLTZiMzItNDEwMC1iZjUxLTVmYmQzYzNkMWY3NCIsInRpZCI6IjlhOTVmZDllLTAwNWQtNDg3YS05YTAxLWQwOGMxZWFiMjc1NyIsInV0aSI6IndMVG5Dc2tRLVVLc3lDTjBUTFE0QVEiLCJ2ZXIiOiIxLjAifQ.h50DAbes4A4ffY2vNfkB000aRryrqBXF_nOYdVowPTkaBjdbVjNLDuYt6YNRVTZ9aWUsZ4M_LV7r4f9zQd830gXWm9i8ZEKnsbLdzMUWzY4Gxk3jHt4FsixZzw4XxdZO5oF2EpiD50m--t6sjUB9uouy93Llu7eGhk_Qg_HVvzAoclja_6bRPseJoL681iEOh8BZBG_W0d2OkEndZEGKVMa4vw3-lkEuo4wwnODru30_SXm7qwpFXoiqfwfK_ndGdDDbL__LyoWxWoWwwGyICK0SwnP7gIh2wrxvohQRItTDsZf5StO3H0zmeeE1bSkt_v8b8dRanOGd54oZK7k2wQ",
    options: {
      issuer: "https://sts.windows.net/9a95fd9e-005d-487a-9a01-d08c1eab2757/",
      audience: "api://6de1dbb3-10c6-49e6-9f67-119f30684a1b",
      scopeClaim: "scp",
    },
  },
  {
    name: "Microsoft Entra ID, version 1.0, of a user",
    source: "AzureAD/passport-azure-ad, test/Chai-passport_test/bearer_pem_test.js",
    keys: [
      "-----BEGIN RSA PUBLIC KEY-----",
      "MIIBCgKCAQEAvbcFrj193Gm6zeo5e2/y54Jx49sIgScv+2JO+n6NxNqQaKVnMkHc",
      "z+S1j2FfpFngotwGMzZIKVCY1SK8SKZMFfRTU3wvToZITwf3W1Qq6n+h+abqpyJT",
      "aqIcfhA0d6kEAM5NsQAKhfvw7fre1QicmU9LWVWUYAayLmiRX6o3tktJq6H58pUz",
      "Ttx/D0Dprnx6z5sW+uiMipLXbrgYmOez7htokJVgDg8w+yDFCxZNo7KVueUkLkxh",
      "NjYGkGfnt18s7ZW036WoTmdaQmW4CChf/o4TLE5VyGpYWm7I/+nV95BBvwlzokVV",
      "KzveKf3l5UU3c6PkGy+BB3E/ChqFm6sPWwIDAQAB",
      "-----END RSA PUBLIC KEY-----",
    ].join("\n"),
    token:
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsIng1dCI6IlliUkFRUlljRV9tb3RXVkpLSHJ3TEJiZF85cyIsImtpZCI6IlliUkFRUlljRV9tb3RXVkpLSHJ3TEJiZF85cyJ9.eyJhdWQiOiJzcG46NjUxNGE4Y2EtZDllNC00MTU1LWIyOTItNjUyNTgzOThmM2FhIiwiaXNzIjoiaHR0cHM6Ly9zdHMud2luZG93cy5uZXQvMjY4ZGExYTEtOWRiNC00OGI5LWIxZmUtNjgzMjUwYmE5MGNjLyIsImlhdCI6MTQ2NzMxMTI0OCwibmJmIjoxNDY3MzExMjQ4LCJleHAiOjE0NjczMTUxNDgsImFjciI6IjEiLCJhbXIiOlsicHdkIl0sImFwcGlkIjoiYmViZmFkNTctZWZkNy00MTliLWI3NGItNGI5ZGFiN2JkNDcwIiwiYXBwaWRhY3IiOiIxIiwiZmFtaWx5X25hbWUiOiJvbmUiLCJnaXZlbl9uYW1lIjoicm9ib3QiLCJpcGFkZHIiOiIxMzEuMTA3LjE2MC4yMjYiLCJuYW1lIjoicm9ib3QgMSIsIm9pZCI6Ijc5MTJmZTdiLWI1YWItNDI1Yi1iYjFmLTBlODNiOTlmY2E3ZiIsInNjcCI6InVzZXJfaW1wZXJzb25hdGlvbiIsInN1YiI6Ikt1Mi1GdDlsWTlpMkJ2ZmhtcTQxNjZaSDNrV0g0V1h0bXpHOU0tOE1GYWMiLCJ0aWQiOiIyNjhkYTFhMS05ZGI0LTQ4YjktYjFmZS02ODMyNTBiYTkwY2MiLCJ1bmlxdWVfbmFtZSI6InJvYm90QHNpanVuLm9ubWljcm9zb2Z0LmNvbSIsInVwbiI6InJvYm90QHNpanVuLm9ubWljcm9zb2Z0LmNvbSIsInZlciI6IjEuMCJ9.VTg8AqnbSzfC7nUmf3xKnNrS_3BcOSGqz_CBPi6Th2piwNc--3Aq_K6SOt2QlbP7yni8IOqeY2ooqDgj0CvcvV3HHHHFatS7X8Kppg4z35lB4b67DJuIeHgCYYBR75qMVC1z5n4dgYGoNE-JNvlZZmaeHnrO8FAmQBKJUOrIyCNpoBjIsUXgXJKTPdL7HQL9nFz6h9sUmvbvpwqk1NgfmfTsJ0wHuSNHjHmryZ7vGnnjJHUC1zQmo9nesF0t7ad2Gk2RdlU93FbcZEW0hFE5Rtu0SbjOZAQdDVsBj_Voi7iQ_Kr-CnC14vuZ5kE9ACSMf2VG5wfcg6z4pyQdw-LpjQ",
    options: {
      issuer: "https://sts.windows.net/268da1a1-9db4-48b9-b1fe-683250ba90cc/",
      audience: "spn:6514a8ca-d9e4-4155-b292-65258398f3aa",
      scopeClaim: "scp",
    },
    scope: "user_impersonation",
  },
  {
    name: "Keycloak, an ID token",
    source: redpanda,
    keys: {
      keys: [
        {
          kid: "EWGWeiW8jqUC_T7Fawi5ecRbrDOanB_uqtTgAOgJDPk",
          kty: "RSA",
          alg: "RSA-OAEP",
          use: "enc",
          e: "AQAB",
          n: "0OceMDMwIZCADl3oZnevxMBzB5GTLwFYevc7PFbw394YY4-Sdt4xqudPMSf2WhU22CidYiMVP1xvcZP7W_5eNLS9nNg3gsswgPiL52ZbWeWoOYx1WDVZzZur3YyjOR1iYvwhR572JumAfDE64y2cHpN2meVana9Zv7S4_yc9pFwGdPTJh7O76lamMjigfYKGF8BKSsFYPkxh_RgaRVqOaaF-CtXPBWmwqvJZ1r0h7GewcP5QeyaUUrZtTo7z0H6VovUGdwguL-OxhWVWZNyGDudtc50PPu3BBn47NpZIa4qCBEsMpm0mJ7YUvwAG-Ktd93uSquJkXvFjaVbTYj_iqQ",
        },
        {
          kid: "kf46eDlB9jtz2PpktQ6NQSfRwoU_tT3NqxlI8C4MGvQ",
          kty: "RSA",
          alg: "RS256",
          use: "sig",
          e: "AQAB",
          n: "3yqePLS9Q5Nf-q-ujodgMbblIwwPsEUCcXSxBS0eqrrSTNuPaHr-v_y_yyfKfxqhEmK_MBVvlXXmmwWZk6rWlR2hSdQW6Ih7UWLVaNOT35slcCfjQWQa3O0ZHxzemhgj0HHQ9x8t_AcK1wJd_hMjl3qwG12V1l-9-vSVIOrnl47YXC57K_j8MuNBPr1YdD4Rm9GGFxPQPRpc3nxTO2tFkkeGubfN6eJ226OvaA1uP6SlZEeA4KSjd-Bl0AAKotKcF9orHOuiceAarKs6uGZ84GocGaUtEEOli4e5bJrnNOXZDzCo34VdhFXFmJ2vU3g1XkY8e9wgA0fs9b3OhjqXIw",
        },
      ],
    },
    token:
      "eyJhbGciOiJSUzI1NiIsInR5cCIgOiAiSldUIiwia2lkIiA6ICJrZjQ2ZURsQjlqdHoyUHBrdFE2TlFTZlJ3b1VfdFQzTnF4bEk4QzRNR3ZRIn0.eyJleHAiOjE2OTc2NDU0NjksImlhdCI6MTY5NzY0NTE3MCwiYXV0aF90aW1lIjowLCJqdGkiOiJkZGYxZWE2MC01NzcwLTQ0MzctYTMzYy02MWM2MjllYmM3YWIiLCJpc3MiOiJodHRwOi8vZG9ja2VyLXJwLTE6ODA4MC9yZWFsbXMvZGVtb3JlYWxtIiwiYXVkIjoibXlhcHAiLCJzdWIiOiJiMDBmNjU0Yy04NDJiLTRlYjEtODhmMi0zMDRkMTcyNDZiYjUiLCJ0eXAiOiJJRCIsImF6cCI6Im15YXBwIiwiYXRfaGFzaCI6ImFHb2tGUGVpa2FDUm85WUZxbHlnbEEiLCJhY3IiOiIxIiwiZW1haWxfdmVyaWZpZWQiOmZhbHNlLCJjbGllbnRIb3N0IjoiMTcyLjE4LjAuMzYiLCJwcmVmZXJyZWRfdXNlcm5hbWUiOiJzZXJ2aWNlLWFjY291bnQtbXlhcHAiLCJjbGllbnRBZGRyZXNzIjoiMTcyLjE4LjAuMzYiLCJlbWFpbCI6Im15YXBwQGN1c3RvbWVyLmNvbSIsImNsaWVudF9pZCI6Im15YXBwIn0.bYoI1XzW6Bw-dOnPAwBoB3tjM4xrt3loeUgwuipOmcm-yTheLSCf4qK3LOlzmuZdyF7TduDiizl4q8XIDe6XydrYL0tw4ebnQjcQo0wJNSZZQ3olZ65iJUoFHqK0YZuI4a4VDqMq0viEo2c2zFo3reVsr2XTtBgtU-iVyWpvmz6x-CceaGaKZpjDOcS8ixFcpSx-_mraQ18vr2yNHDO1DExg3Pc6FdbaiYApfldR9QIe2Oa5VTlVWXaqmjbFv3dA-FODIznEZ4tiN_8fZz5-BhkTTEupQGbCrYTIhR9rW_2xC_b8MhJCBMVFkMYATxLmJH9WPN5Fnzs2kiP7Xvs_eg",
    options: { issuer: "http://docker-rp-1:8080/realms/demorealm", audience: "myapp" },
  },
  {
    name: "Google, an ID token of a service account",
    source: redpanda,
    keys: {
      keys: [
        {
          e: "AQAB",
          alg: "RS256",
          kid: "a06af0b68a2119d692cac4abf415ff3788136f65",
          use: "sig",
          kty: "RSA",
          n: "yrIpMnHYrVPwlbC-IY8aU2Q6QKnLf_p1FQXNiTO9mWFdeYXP4cNF6QKWgy4jbVSrOs-4qLZbKwRvZhfTuuKW6fwj5lVZcNsq5dd6GXR65I8kwomMH-Zv_pDt9zLiiJCp5_GU6Klb8zMY_jEE1fZp88HIk2ci4GrmtPTbw8LHAkn0P54sQQqmCtzqAWp8qkZ-GGNITxMIdQMY225kX7Dx91ruCb26jPCvF5uOrHT-I6rFU9fZbIgn4T9PthruubbUCutKIR-JK8B7djf61f8ETuKomaHVbCcxA-Q7xD0DEJzeRMqiPrlb9nJszZjmp_VsChoQQg-wl0jFP-1Rygsx9w",
        },
        {
          e: "AQAB",
          alg: "RS256",
          kid: "f5f4bf46e52b31d9b6249f7309ad0338400680cd",
          use: "sig",
          kty: "RSA",
          n: "q5hcowR4IuPiSvHbwj9Rv9j2XRnrgbAAFYBqoLBwUV5GVIiNPKnQBYa8ZEIK2naj9gqpo3DU9lx7d7RzeVlzCS5eUA2LV94--KbT0YgIJnApj5-hyDIaevI1Sf2YQr_cntgVLvxqfW1n9ZvbQSitz5Tgh0cplZvuiWMFPu4_mh6B3ShEKIl-qi-h0cZJlRcIf0ZwkfcDOTE8bqEzWUvlCpCH9FK6Mo9YLjw5LroBcHdUbOg3Keu0uW5SCEi-2XBQgCF6xF3kliciwwnv2HhCPyTiX0paM_sT2uKspYock-IQglQ2TExoJqbYZe6CInSHiAA68fkSkJQDnuRZE7XTJQ",
        },
      ],
    },
    token:
      "eyJhbGciOiJSUzI1NiIsImtpZCI6ImY1ZjRiZjQ2ZTUyYjMxZDliNjI0OWY3MzA5YWQwMzM4NDAwNjgwY2QiLCJ0eXAiOiJKV1QifQ.eyJhdWQiOiJteWFwcCIsImF6cCI6IjExNzM2NzgxMDA0ODY0MjA3NDkzOSIsImVtYWlsIjoidGVzdC03MTlAZGlyZWN0LXN1YmplY3QtNDA0MDE3LmlhbS5nc2VydmljZWFjY291bnQuY29tIiwiZW1haWxfdmVyaWZpZWQiOnRydWUsImV4cCI6MTY5OTA2MTA4MiwiaWF0IjoxNjk5MDU3NDgyLCJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLCJzdWIiOiIxMTczNjc4MTAwNDg2NDIwNzQ5MzkifQ.gm60Q6OiKzpnmTqh0BrmTkXzyUm2OEUrL8gfA4LBKdzXHucMhlqBA2LaNACv0LH2oqCxwy5BCdCaZWkHhIVJGCLMy7p__c_OO_1VUXwCtr9j2MtQaPPgOK8z1dT8-dmU3xXuWsEl5FX2k3JFiDlSUdgNrFs8o2uuJG_VtiLjV3u4jyHTS-vwcdYbFpH7ipS-bL-g-_uW8-qKAfJqk4V_fWXJ__tjNlvMRogweujpRpa-_1H9Cdk7avlRB_xbthUVFI2guE-0yMGDZhZrjI1vkA9uj1bpcH-85JiGPRlcGuikBnmB3ZUkJ6QffVfa4PwyYV78ybkPjtbcXjcp3X0AjQ",
    options: { issuer: "https://accounts.google.com", audience: "myapp" },
  },
];
