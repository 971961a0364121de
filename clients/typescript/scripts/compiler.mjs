/* The compiler's syntax tree API, which TypeScript 7 does not have yet, for the generator that needs it. */
import { ts } from "@ts-morph/common";

export default ts;
