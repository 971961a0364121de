"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useEffectEvent } from "react";
import { useTRPCClient } from "@/components/data/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { prepareDialog } from "@/components/ui/dialog";
import { toast } from "@/components/ui/toaster";
import {
  dropQuestion,
  giveUp,
  isAnythingUnsaved,
  leaveUnsaved,
  signedInAgain,
  useStanding,
} from "./unsaved-work";

/** Asks before the reader leaves a page with unsaved input, and reports when the session has ended. */
export function UnsavedGuard() {
  useAskedBefore();
  const { question, isSignedOut } = useStanding();
  useReturn(isSignedOut);
  if (!question) return null;
  function confirm() {
    if (question?.kind === "leave") giveUp();
    if (question?.kind === "signIn")
      window.open("/sign-in?callbackUrl=/signed-in&reason=ended", "_blank", "noopener");
    else question?.go();
  }
  return (
    <Confirm
      key={question.kind}
      open
      onOpenChange={(isOpen) => isOpen || dropQuestion()}
      onConfirm={confirm}
      {...QUESTIONS[question.kind]}
    />
  );
}

const QUESTIONS = {
  leave: {
    title: "Leave without saving?",
    description: "Your changes on this page will be lost.",
    action: "Leave page",
  },
  discard: {
    title: "Discard what you typed?",
    description: "The form closes, and nothing is saved.",
    action: "Discard",
  },
  signIn: {
    title: "You are signed out",
    description:
      "Your session has ended, but your changes are still here. Sign in again in another tab, then come back and submit them.",
    action: "Sign in",
    actionVariant: "primary",
  },
} as const;

/** Asks before one of our links is followed, and before the browser closes or reloads the page. */
function useAskedBefore() {
  const router = useRouter();
  const follow = useEffectEvent((link: HTMLAnchorElement) => {
    if (link.isConnected) link.click();
    else router.push(link.href); // a menu link whose menu has closed
  });
  useEffect(() => {
    function click(event: MouseEvent) {
      const link = linkOf(event);
      if (!link || !isAnythingUnsaved()) return;
      event.preventDefault(); // Next's links respect it as the browser does
      leaveUnsaved(() => follow(link));
    }
    function unload(event: BeforeUnloadEvent) {
      if (isAnythingUnsaved()) event.preventDefault();
    }
    window.addEventListener("click", click, { capture: true });
    window.addEventListener("beforeunload", unload);
    // The dialog's code is loaded before the server may be out of reach.
    window.addEventListener("input", prepareDialog, { once: true });
    return () => {
      window.removeEventListener("input", prepareDialog);
      window.removeEventListener("click", click, { capture: true });
      window.removeEventListener("beforeunload", unload);
    };
  }, []);
}

/**
 * The link by which this click leaves the page; null if there is none. A link marked `data-takes-along` carries the input
 * along.
 */
function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement)) return null;
  if (link.target === "_blank" || link.hasAttribute("download") || "takesAlong" in link.dataset) return null;
  const { origin, pathname, search } = new URL(link.href);
  if (origin !== window.location.origin) return null; // the browser asks before it leaves for another origin
  const isHere = pathname === window.location.pathname && search === window.location.search;
  return isHere ? null : link;
}

/** Once the reader has signed in again, all data is fetched again and the input can be submitted. */
function useReturn(isSignedOut: boolean) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isSignedOut) return;
    async function look() {
      if (document.visibilityState === "hidden") return;
      const isBack = await client.projects.list.query().then(
        () => true,
        () => false,
      );
      if (!isBack) return;
      signedInAgain();
      toast.success("You're signed in again. Your changes are still here.");
      void queryClient.invalidateQueries();
    }
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isSignedOut, client, queryClient]);
}
