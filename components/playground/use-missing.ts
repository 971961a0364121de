"use client";
import { useMemo, useState } from "react";
import { focusWrong } from "@/components/blocks/form/form";
import { inputSchemaOf } from "@/components/playground/input/input-form";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import { isFileMissing, missingIn } from "./missing";
import type { Input } from "./schema";

/**
 * The required values that a form's input lacks, shown at the fields once the reader has tried to submit. An incomplete form
 * is not sent.
 */
export function useMissing(
  input: Input,
  capability: CapabilityDescriptor,
  /** Fields that are filled in elsewhere and not required here. */
  elsewhere: readonly string[] = [],
) {
  const [wasTried, setTried] = useState(false);
  const all = useMemo(() => missingIn(input, inputSchemaOf(capability)), [input, capability]);
  const missing = all.filter(({ loc }) => !elsewhere.includes(String(loc[0])));
  return {
    shown: wasTried ? missing : [],
    isFile: isFileMissing(missing),
    /** True if the form may be sent; otherwise focuses the first empty field. */
    isWhole(form: HTMLFormElement): boolean {
      if (missing.length === 0) return true;
      setTried(true);
      requestAnimationFrame(() => focusWrong(form)); // after the fields are marked as invalid
      return false;
    },
  };
}
