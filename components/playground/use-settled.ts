"use client";
import { useDeferredValue, useEffect, useState } from "react";

const PAUSE_MS = 700;

/** A debounced value, so that a request is not priced on every keystroke. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return useDeferredValue(settled);
}
