"""A page on this computer: a server that only this computer reaches, and only with a token.

It reads no path that a request names, and takes at most `MOST_BYTES` of a request.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dissensus.errors import DataError, DissensusError, InstallError
from dissensus.files.checked_json import parse_json

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BYTES = 64 << 10  # of a request
HOSTS = ["127.0.0.1", "localhost"]
HEADERS = {
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
Action = Callable[[dict[str, Any]], Any]


def web_app(page: str, actions: Mapping[str, Action], token: str) -> Starlette:
    """A page and what it may ask for.

    Args:
        page: HTML.
        actions: by the name that requests are sent to: from the JSON object of a request to the
            answer; one at a time. What they refuse (`DissensusError`) is shown on the page.
        token: without it, a request is refused.
    """
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.requests import ClientDisconnect
        from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise _not_installed() from None
    one_at_a_time = asyncio.Lock()

    def known(sent: str | None) -> bool:
        return sent is not None and secrets.compare_digest(sent.encode(), token.encode())

    async def index(request: Request) -> Response:
        cookie = f"dissensus-{request.url.port}"  # browsers send cookies to every port
        if known(request.query_params.get("token")):  # which then leaves the address
            response: Response = RedirectResponse("/", 303, HEADERS)
            response.set_cookie(cookie, token, httponly=True, samesite="strict")
            return response
        if not known(request.cookies.get(cookie)):
            return HTMLResponse("Wrong token: open the address that was printed.", 403, HEADERS)
        own = f'<meta name="token" content="{token}">\n<meta name="viewport"'
        return HTMLResponse(page.replace('<meta name="viewport"', own, 1), headers=HEADERS)

    async def act(request: Request) -> Response:
        if not known(request.headers.get("x-token")):
            return JSONResponse({"error": "Wrong token: open the page again."}, 403, HEADERS)
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    most = f"{MOST_BYTES >> 10} kB"
                    return JSONResponse({"error": f"That is longer than {most}; shorten it."}, 413)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        try:
            content = parse_json(body, "request")
            if not isinstance(content, dict):
                raise DataError("request: not a JSON object")
            async with one_at_a_time:
                answer = await run_in_threadpool(actions[request.url.path[1:]], content)
            return JSONResponse(answer, headers=HEADERS)
        except DissensusError as error:
            return JSONResponse({"error": str(error)}, 400, HEADERS)

    routes = [Route(f"/{name}", act, methods=["POST"]) for name in actions]
    return Starlette(
        routes=[Route("/", index), *routes],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
    )


def listen(app: Starlette, token: str, port: int = 0) -> None:
    """Print the address of a page and answer requests until Ctrl-C.

    Args:
        port: on this computer; a free one if 0.
    """
    try:
        import uvicorn
    except ImportError:
        raise _not_installed() from None
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()  # who opens the address at once waits for the server
        except OSError as error:
            raise DataError(f"port {port}: {error.strerror}; choose another --port") from None
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/?token={token}", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        server.run(sockets=[listener])


def _not_installed() -> InstallError:
    return InstallError("pages need starlette and uvicorn: pip install 'dissensus[serve]'")
