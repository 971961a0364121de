"""What OpenAI's client for Python sent when it ran here last, sent again by httpx where that client cannot be installed.

Reads recorded.json, a list of {check, method, path, headers, body, status}; prints as program.py does.
"""

import json
import os
import pathlib
import sys

import httpx

recorded = json.loads(pathlib.Path(__file__).with_name("recorded.json").read_text())
errors = {}
with httpx.Client(base_url=os.environ["CAPSTAN_BASE_URL"], timeout=60) as client:
    for request in recorded:
        headers = {**request["headers"], "authorization": "Bearer " + os.environ["CAPSTAN_API_KEY"]}
        answer = client.request(request["method"], request["path"], headers=headers, content=request["body"])
        error = None
        if answer.status_code != request["status"]:
            error = f"{request['path']} answered {answer.status_code}: {answer.text[:500]}"
        errors[request["check"]] = errors.get(request["check"]) or error
for check, error in errors.items():
    print(json.dumps({"check": check, "error": error}), flush=True)
sys.exit(0)
