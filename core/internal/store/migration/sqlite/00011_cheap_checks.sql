-- +goose Up
-- A CHECK against a list of three values or more makes SQLite build that list as an index, anew for every row that it writes: of what
-- a payment's statements cost, a third. The same rule spelled with OR is a comparison or two, the states that payments are most often in
-- first. Only the text of the rule changes, and neither rows nor what may be written, so it is changed in place, as SQLite's manual
-- has it, instead of copying every table.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
'status IN (''requires_confirmation'', ''requires_action'', ''pending_review'', ''processing'',
                                                              ''unknown'', ''authorized'', ''partially_captured'', ''captured'', ''voided'',
                                                              ''canceled'', ''declined'', ''failed'', ''expired'')',
'status = ''processing'' OR status = ''captured'' OR status = ''authorized'' OR status = ''declined''
                                                     OR status = ''unknown'' OR status = ''partially_captured'' OR status = ''voided''
                                                     OR status = ''expired'' OR status = ''requires_confirmation'' OR status = ''canceled''
                                                     OR status = ''failed'' OR status = ''requires_action'' OR status = ''pending_review''')
    WHERE type = 'table' AND name = 'transactions';
UPDATE sqlite_schema SET sql = replace(sql,
'operation IN ('''', ''capture'', ''void'')', 'operation = '''' OR operation = ''capture'' OR operation = ''void''')
    WHERE type = 'table' AND name = 'transactions';
UPDATE sqlite_schema SET sql = replace(sql,
'state IN (''pending'', ''succeeded'', ''failed'', ''voided'')',
'state = ''succeeded'' OR state = ''pending'' OR state = ''failed'' OR state = ''voided''')
    WHERE type = 'table' AND name = 'captures';
UPDATE sqlite_schema SET sql = replace(sql,
'state IN (''pending'', ''succeeded'', ''failed'')', 'state = ''pending'' OR state = ''succeeded'' OR state = ''failed''')
    WHERE type = 'table' AND name = 'refunds';
UPDATE sqlite_schema SET sql = replace(sql,
'status IN (''pending'', ''succeeded'', ''failed'')', 'status = ''pending'' OR status = ''succeeded'' OR status = ''failed''')
    WHERE type = 'table' AND name = 'webhook_deliveries';
UPDATE sqlite_schema SET sql = replace(replace(sql,
'status IN (''enabled'', ''disabled'', ''deleted'')', 'status = ''enabled'' OR status = ''disabled'' OR status = ''deleted'''),
'reason IN ('''', ''requested'', ''gone'', ''failing'')',
'reason = '''' OR reason = ''requested'' OR reason = ''gone'' OR reason = ''failing''')
    WHERE type = 'table' AND name = 'webhook_endpoints';
PRAGMA writable_schema = RESET;
-- Tells other connections that the schema is another one.
CREATE TABLE schema_changed (n INTEGER);
DROP TABLE schema_changed;
