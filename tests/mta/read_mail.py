"""read_mail.py MAILDIR: what Python's email package makes of each mail in it, a JSON object a line."""

import email.policy
import email.utils
import hashlib
import json
import pathlib
import re
import sys


def defects(message):
    """Everything that the parser complains of, in the message, its headers and its parts."""
    for part in message.walk():
        yield from map(repr, part.defects)
        for name, value in part.items():
            yield from (f"{name}: {defect!r}" for defect in value.defects)


for file in sorted(pathlib.Path(sys.argv[1], "new").iterdir()):
    raw = file.read_bytes()
    message = email.message_from_bytes(raw, policy=email.policy.default)
    body = message.get_body(("plain",))
    print(json.dumps({
        "headers": [[name, str(value)] for name, value in message.items()],
        "from": [[one.display_name, one.addr_spec] for one in message["From"].addresses],
        "seconds": int(email.utils.parsedate_to_datetime(str(message["Date"])).timestamp()),
        "text": body.get_content().replace("\r\n", "\n"),
        "attachments": [
            {
                "name": part.get_filename(),
                "type": part.get_content_type(),
                "sha256": hashlib.sha256(part.get_content()).hexdigest(),
            }
            for part in message.iter_attachments()
        ],
        # Mail servers keep mails with the line ends of their system: a carriage return can only be one of ours alone.
        "carriage_returns": raw.count(b"\r"),
        "long_lines": len(re.findall(rb"[^\n]{999,}", raw)),
        "defects": list(defects(message)),
    }))
