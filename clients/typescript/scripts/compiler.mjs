/* The compiler's syntax trees, which TypeScript 7 has no counterpart of yet, for the generator that writes by them. */
import { ts } from "@ts-morph/common";

export default ts;
