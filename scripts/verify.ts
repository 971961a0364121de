import { runVerify } from "./verify/command";
import { explainVerification } from "./verify/explain";

// Node warns that Ed25519 in Web Crypto is experimental; it is still the signature of RFC 8032.
process.removeAllListeners("warning");

runVerify(process.argv.slice(2), { explain: explainVerification }).then(
  ({ code, out, error }) => {
    if (out) console.log(out);
    if (error) console.error(error);
    process.exitCode = code;
  },
  (error) => {
    console.error(error);
    process.exitCode = 2;
  },
);
