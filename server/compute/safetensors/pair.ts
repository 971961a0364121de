import type { Tensor } from "./header";

/** Naming convention of the two matrices of a module. */
export type LoraNaming = "kohya" | "peft" | "diffusers";

/** An adapted module: its name without the ending, and the two matrices whose product is added to its weights. */
export type LoraPair = { module: string; naming: LoraNaming; down: Tensor; up: Tensor };
