"use client";
import { useEffect, useEffectEvent, useState } from "react";

const GIVEN_UP_MS = 15_000;

/**
 * Navigates to an external page. `isLeaving` is true until that page loads. If the back button restores this page, or the
 * page is still open after 15 seconds, `isLeaving` becomes false and `onReturn` is called.
 */
export function useLeave(onReturn?: () => void) {
  const [isLeaving, setLeaving] = useState(false);
  const stay = useEffectEvent(() => {
    setLeaving(false);
    onReturn?.();
  });
  useEffect(() => {
    if (!isLeaving) return;
    const back = () => stay();
    const timer = setTimeout(back, GIVEN_UP_MS);
    window.addEventListener("pageshow", back);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pageshow", back);
    };
  }, [isLeaving]);
  function leave(url: string) {
    setLeaving(true);
    window.location.assign(url);
  }
  return { isLeaving, leave };
}
