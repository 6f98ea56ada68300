from sqlalchemy import Engine, text

from tests.web.serving import Server


def test_the_process_lives_whatever_it_lacks(serve):
    server = serve(redis_url="redis://127.0.0.1:1/0", database_url="postgresql://127.0.0.1:1/none")
    assert server.http.get("/healthz").json() == {"status": "ok"}
    answer = server.http.get("/readyz")
    assert answer.status_code == 503
    assert "database" in answer.json()["database"]
    assert "broker" in answer.json()["broker"]
    assert "pulsegate_database_up 0.0" in server.http.get("/metrics").text


def test_ready(server: Server):
    answer = server.http.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": "ok", "broker": "ok"}


def test_an_older_schema_is_not_ready_and_a_newer_one_is(server: Server, engine: Engine):
    with engine.begin() as connection:
        before = connection.execute(text("select version_num from alembic_version")).scalar_one()
    try:
        with engine.begin() as connection:
            connection.execute(text("update alembic_version set version_num = 'from-the-future'"))
        assert server.http.get("/readyz").status_code == 200
        with engine.begin() as connection:
            connection.execute(text("delete from alembic_version"))
        answer = server.http.get("/readyz")
        assert answer.status_code == 503
        assert "pulsegate db upgrade" in answer.json()["database"]
    finally:
        with engine.begin() as connection:
            connection.execute(text("delete from alembic_version"))
            connection.execute(text("insert into alembic_version values (:v)"), {"v": before})


def test_metrics_count_what_came_and_what_waits(server: Server):
    server.deliver(b"{}", x_github_event="star")
    server.deliver(b"{}", x_hub_signature_256="sha256=" + "0" * 64)
    text_ = server.http.get("/metrics").text
    assert 'pulsegate_deliveries_total{event="star",outcome="accepted"}' in text_
    assert 'outcome="bad signature"' in text_
    assert "pulsegate_inbox_pending 1.0" in text_
    assert "pulsegate_inbox_troubled 0.0" in text_
    assert 'pulsegate_outbox{state="pending"} 0.0' in text_
    assert (
        'pulsegate_request_seconds_count{method="POST",route="/webhooks/github",status="202"}'
        in text_
    )
