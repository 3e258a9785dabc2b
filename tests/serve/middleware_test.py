import httpx
import pytest

JSON = {"sentence": "a film"}


@pytest.fixture
def url(address: str) -> str:
    return f"{address}/predict/sst"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:99", "localhost:99", "[::1]:99"])
def test_addresses_and_localhost_are_names_of_the_server(host: str, url: str) -> None:
    assert httpx.post(url, json=JSON, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("example.org", "127.0.0.1.example.org", "localhost.example", ""),
        *("evil.com@127.0.0.1", "evil.com:80@127.0.0.1:99", "127.0.0.1/evil.com", "127.0.0.1?x"),
        *("[::1]evil.com", "[localhost]", "127.0.0.1:evil"),
    ],
)
def test_another_host_is_refused(host: str, url: str) -> None:
    response = httpx.post(url, json=JSON, headers={"host": host})

    assert response.status_code == 403
    assert response.json()["error"].startswith(f"this server is not {host!r}; use its IP address")


def test_only_the_own_page_may_ask(address: str, url: str) -> None:
    statuses = {
        origin: httpx.post(url, json=JSON, headers={"origin": origin}).status_code
        for origin in (address, "https://example.org", "null", "http://127.0.0.1:1")
    }

    assert statuses == {
        address: 200,
        "https://example.org": 403,
        "null": 403,
        "http://127.0.0.1:1": 403,
    }


def test_no_answer_allows_other_sites_and_all_forbid_foreign_files(address: str, url: str) -> None:
    responses = [
        httpx.get(f"{address}/"),
        httpx.post(url, json=JSON),
        httpx.post(url, json=JSON, headers={"origin": "https://example.org"}),
        httpx.options(url, headers={"origin": address}),
    ]

    for response in responses:
        assert not any("access-control" in name for name in response.headers)
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
