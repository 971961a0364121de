/**
 * The text that `npm run admin -- --help` prints; the flags of each command are parsed from it. This file imports nothing, so
 * the help needs no installation.
 */
export const USAGE = `npm run admin -- <noun> <verb> [--flags] [--json]

  organization create --name <name>
  organization list
  organization plan --organization <id> [--plan <slug>|default] [--limits users=5,projects=none] [--features cancel=off]
                             show or set what an organization may use; --limits and --features replace all its
                             differences from the plan, an empty list removes them
  project create --name <name> [--organization <id>]
  project list [--organization <id>]
  project set --project <id> [--maturity G|PG|PG13|R|NC17|none] [--retention Transient=7,ProductManaged=standard]
                             default rating of jobs; days that content is kept, at most the standard
  user create --email <address> [--organization <id>] [--role owner|admin|member|viewer] [--name <name>]
  user list [--organization <id>]
  user reset --email <address>                        remove their second factor and linked identities, and end their
                                                      sessions; verify first that the request is theirs
  key create --project <id> --name <name> [--scopes a,b] [--expires-in 30d] [--environment development]
  key create --organization <id> --name <name> …      a key for every project of the organization
  key list [--project <id>] [--organization <id>] [--include-revoked]
  key revoke --key <id>
  operator grant --email <address>
  operator list
  job attention list                                  jobs whose paid result could not be stored
  job attention retry --job <id>                      try to store it again
  job attention accept --job <id>                     let the job succeed with what was stored
  job attention fail --job <id>
  mail resend --mail <id>                             send a mail again that failed permanently
  mail test --to <address>                            send a test mail with SMTP_URL, or report why it failed
  wallet show --organization <id>                     available and reserved money, live and sandbox
  wallet credit --organization <id> --amount-micros <n> --reason <text> [--test]
                                                      add money, or remove it with --amount-micros=-<n>
  ledger check [--organization <id>]                  check that every transaction sums to zero, and that wallets and
                                                      budgets match ledger and holds; exit code 1 if not
  budget set --project <id> --ceiling-micros <n> --period day|month|total --enforcement off|warn|prevent [--managed-only]
  budget set --organization <id> …                    for a whole organization
  budget set --principal <id> [--organization <id>] … for a key or a person (in one organization)
  budget list [--organization <id>] [--project <id>]
  budget increase --budget <id> --amount-micros <n> --until <time> --reason <text>
  budget clear-increase --budget <id>
  budget remove --budget <id>
  hold list [--organization <id>] [--project <id>] [--state open|ambiguous]
  hold resolve --hold <id> (--charged-micros <n> | --not-charged) --note <text>
  holds resolve (--charged | --not-charged) --note <text> [--dry-run] …
                                                      resolve all ambiguous holds that match, each at its amount or at nothing
  holds resolve [--organization <id>] [--project <id>] [--billing-mode managed|byok] [--live | --test] …
  holds resolve [--capability <key>] [--provider <name>] [--before <time>] …
  restore release [--kind jobs,mails|all]             show the unfinished work that a restored installation holds; with
                                                      --kind, let these kinds go on
  restore hold                                        hold all work of a database that was restored by other means, before
                                                      its processes start
  signing-key list
  signing-key rotate                                  sign receipts with a new key; the old one still verifies
  vault status                                        show which vault keys encrypt what, and which processes have them
  vault rotate                                        create a new vault key in the data directory; then restart
  vault rewrap                                        re-encrypt everything with the newest key, while work continues
  vault drop                                          remove old keys from the data directory that are not needed

Without --organization, the oldest one is used. --expires-in takes seconds, or a number with s, m, h or d.
With --json, standard output is exactly one JSON value; call npm run -s, or npm prints the command first.`;
