"""Makes, stores and renders a template by the client that openapi-python-client generates."""

import json
import os
import sys

from client import AuthenticatedClient
from client.api.render import create_render_in_format
from client.api.templates import create_template, get_template
from client.models import CreateRenderInFormatFormat, RenderRequest, Template

url, key = os.environ["PLATEN_URL"], os.environ["PLATEN_KEY"]
client = AuthenticatedClient(
    base_url=url, token=key, prefix="", auth_header_name="X-Api-Key", raise_on_unexpected_status=True
)
source = {
    "key": "letter",
    "name": "Letter",
    "body": [{"type": "heading", "level": 1, "content": "Dear {{ name }}"}],
}
stored = create_template.sync_detailed(client=client, body=Template.from_dict(source))
assert stored.status_code == 201, stored
found = get_template.sync_detailed("letter", client=client)
assert found.status_code == 200, found
assert json.loads(found.content)["name"] == "Letter", found.content
request = RenderRequest.from_dict({"template": "letter", "data": {"name": "Ada"}})
made = create_render_in_format.sync_detailed(
    CreateRenderInFormatFormat("pdf"), client=client, body=request
)
assert made.status_code == 200, made
assert made.content.startswith(b"%PDF-"), made.content[:20]
missing = get_template.sync_detailed("none", client=client)
assert missing.status_code == 404 and missing.parsed.code == "not-found" and missing.parsed.resource == "template", missing
print("made", len(made.content), "bytes", file=sys.stderr)
